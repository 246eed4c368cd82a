import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const folder = fileURLToPath(new URL("../../examples/deploy/", import.meta.url));
const read = (name: string): string => readFileSync(`${folder}${name}`, "utf8");

const isThere = (tool: string): boolean => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;

/** The names that the interface's metrics have (types/README.md). */
const metricNames = (): Set<string> => {
  const manual = readFileSync(new URL("../../types/README.md", import.meta.url), "utf8");
  return new Set([...manual.matchAll(/`(portico_\w+)/g)].map(([, name = ""]) => name));
};

describe("the files for deploying", () => {
  it("alert by rules that promtool finds right, and that their own tests hold", function () {
    if (!isThere("promtool")) {
      console.log("      There is no promtool (Debian: prometheus): the alert rules are not checked.");
      return this.skip();
    }
    for (const args of [["check", "rules", "prometheus/alerts.yml"], ["check", "config", "prometheus/prometheus.yml"], ["test", "rules", "prometheus/alerts.test.yml"]]) {
      const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
      expect(status, stdout + stderr).to.equal(0);
    }
  });

  it("have a unit that systemd finds right", function () {
    if (!isThere("systemd-analyze")) {
      console.log("      There is no systemd-analyze: the unit is not checked.");
      return this.skip();
    }
    const { stderr } = spawnSync("systemd-analyze", ["verify", "./portico.service"], { cwd: folder, encoding: "utf8" });
    expect(stderr.split("\n").filter((line) => line.includes("portico.service") && !line.includes("is not executable"))).to.deep.equal([]);
  });

  it("ask for metrics that there are", () => {
    const known = metricNames();
    for (const file of ["grafana/grafana.json", "prometheus/alerts.yml"]) {
      const named = [...read(file).matchAll(/portico_[a-z_]+/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, ""));
      expect(named.length).to.be.above(5);
      expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
    }
  });

  it("name options that the host has", async () => {
    const { optionRows } = await import("../../examples/standalone/options.js");
    const variables = new Set(optionRows.map(({ name }) => `PORTICO_${name.toUpperCase().replaceAll("-", "_")}`));
    for (const file of ["Dockerfile", "portico.service"]) {
      for (const [name] of read(file).matchAll(/PORTICO_[A-Z_]+/g)) expect(variables.has(name), `${file}: ${name}`).to.equal(true);
    }
  });
});
