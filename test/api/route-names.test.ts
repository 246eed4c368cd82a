import { expect } from "chai";
import { v1Routes } from "../../src/api/v1/index.js";
import { v2Routes } from "../../src/api/index.js";
import { routeName } from "../../src/http/route-properties.js";

describe("the names of routes", () => {
  const routes = [...v2Routes, ...v1Routes];
  const named = (method: string, path: string): string[] => routes.filter((route) => route.method === method && route.path === path).map((route) => routeName(route));

  it("are distinct, ignoring case", () => {
    const names = routes.map((route) => routeName(route).toLowerCase());
    expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
  });

  it("are words: a verb and the things it is about, without the names of parameters", () => {
    for (const route of routes) expect(routeName(route)).to.match(/^(?:get|search|create|submit|replace|update|delete|ping|rotate|recover|redeliver|replay|dryRun)(?:V1)?(?:[A-Z][a-z]+)+$/);
    expect(named("GET", "/wallets/{id}/transactions")).to.deep.equal(["getWalletTransactions"]);
    expect(named("GET", "/webhooks/{id}/deliveries/{deliveryId}")).to.deep.equal(["getWebhookDelivery"]);
    expect(named("POST", "/webhooks")).to.deep.equal(["createWebhook"]);
    expect(named("POST", "/blocks/search")).to.deep.equal(["searchBlocks"]);
    expect(named("GET", "/delegates/get")).to.deep.equal(["getV1Delegate"]);
  });
});
