/**
 * The page of the interactive reference, which is Swagger UI from the package, started by a script of its own: the page's
 * Content-Security-Policy allows none within it. All links are relative, so that it works below any base path.
 */
export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API reference</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/page.css" />
  </head>
  <body>
    <noscript><p>This page needs JavaScript. The interface is described in <a href="openapi.json">openapi.json</a>, too.</p></noscript>
    <main id="reference"></main>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/page.js"></script>
  </body>
</html>
`;

/** Nothing is validated elsewhere, and tokens are not kept. */
export const pageScript = `"use strict";
const { SwaggerUIBundle } = window;
SwaggerUIBundle({
  url: new URL("openapi.json", document.baseURI).href,
  domNode: document.getElementById("reference"),
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

export const pageStyle = `body {
  margin: 0;
}
noscript p {
  margin: 2rem;
  font-family: sans-serif;
}
`;

/** Swagger UI's icons are images in its style sheet. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(";");
