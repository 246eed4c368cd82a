import type { IncomingMessage, ServerResponse } from "node:http";

const style = `
:root { color-scheme: light dark; font: 17px/1.6 system-ui, sans-serif; }
body { background: light-dark(#ffffff, #121212); max-width: 34rem; margin: 12vh auto 2rem; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; margin-bottom: .25rem; }
ul { padding: 0; list-style: none; }
li { margin: .75rem 0; }
a { color: light-dark(#0b5a48, #7fdcc0); font-weight: 600; }
p, span { color: light-dark(#4a5754, #a7b5b1); }
span { display: block; font-size: .9rem; }
`;

const links = [
  ["console", "Console", "what is on the chain now, delegates, search, webhooks"],
  ["docs", "Docs", "every route, to read and to try"],
  ["health", "Health", "whether this node follows its chain"],
  ["metrics", "Metrics", "for Prometheus"],
] as const;

const page = (network: string, basePath: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Portico</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Portico</h1>
<p>A node of the network ${network.replace(/[^\w .-]/g, "")}.</p>
<ul>
${links.map(([path, name, text]) => `<li><a href="${basePath.slice(1)}/${path}">${name}</a><span>${text}</span></li>`).join("\n")}
</ul>
</main>
</body>
</html>
`;

const headers = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
};

/** Answers what lies outside the interface: the page at `/`, and 404 in JSON for the rest. */
export const createFrontPage = (network: string, basePath: string): ((request: IncomingMessage, response: ServerResponse) => void) => {
  const html = Buffer.from(page(network, basePath));
  return (request, response) => {
    const { method = "", url = "" } = request;
    const isPage = (method === "GET" || method === "HEAD") && /^\/(?:\?|$)/.test(url);
    if (isPage) {
      response.writeHead(200, { ...headers, "Content-Length": html.length }).end(method === "HEAD" ? undefined : html);
      return;
    }
    const body = JSON.stringify({ statusCode: 404, error: "Not Found", message: `There is nothing here. The interface is below ${basePath}, and / links to it.` });
    response.writeHead(404, { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(body) }).end(body);
  };
};
