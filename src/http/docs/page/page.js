"use strict";
const { SwaggerUIBundle } = window;
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dress();
dark.addEventListener("change", dress);
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
