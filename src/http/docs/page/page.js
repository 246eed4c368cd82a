"use strict";
const { SwaggerUIBundle } = window;
const generation = new URLSearchParams(location.search).get("generation") ?? "2";
document.querySelector(`nav a[href$="=${generation}"]`)?.setAttribute("aria-current", "page");
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dress();
dark.addEventListener("change", dress);
SwaggerUIBundle({
  url: new URL(`openapi.json?generation=${generation}`, document.baseURI).href,
  domNode: document.getElementById("reference"),
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
