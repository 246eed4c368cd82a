import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const folder = fileURLToPath(new URL("../../examples/deploy/", import.meta.url));
const read = (name: string): string => readFileSync(`${folder}${name}`, "utf8");

const isThere = (tool: string): boolean => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;

/** The names that the interface's metrics have (examples/deploy/README.md). */
const metricNames = (): Set<string> => {
  const manual = readFileSync(new URL("../../examples/deploy/README.md", import.meta.url), "utf8");
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

  it("copy into the image what there is, and nothing that its ignore file keeps out", () => {
    const sent = new Set(read("Dockerfile.dockerignore").split("\n").flatMap((line) => /^!(\S+)/.exec(line)?.[1] ?? []));
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, words = ""]) => words.split(" ").slice(0, -1));
    expect(copied).to.have.members([...sent]).and.not.be.empty;
    for (const path of copied) expect(existsSync(`${folder}../../${path}`), path).to.equal(true);
    // Of the build's output; `npm ci` has made it.
    const [, files = ""] = /for files in ([^;]+);/.exec(read("Dockerfile")) ?? [];
    for (const path of files.split(" ")) expect(existsSync(`${folder}../../dist/src/${path}`), path).to.equal(true);
  });

  it("take the versions that the package has for what the image needs beyond its dependencies", () => {
    const { devDependencies } = JSON.parse(readFileSync(`${folder}../../package.json`, "utf8")) as { devDependencies: Record<string, string> };
    const set = [...(/npm pkg set (.+?) \\$/m.exec(read("Dockerfile"))?.[1] ?? "").matchAll(/dependencies\.([^=]+)=([^\s"]+)/g)];
    expect(set).to.have.lengthOf(5);
    for (const [, name = "", version = ""] of set) expect(`${devDependencies[name]}.`.startsWith(`${version}.`), `${name}: ${version}, ${devDependencies[name]}`).to.equal(true);
  });

  it("agree on services, ports, volumes and files", () => {
    const [image, compose] = [read("Dockerfile"), read("compose.yaml")];
    const port = /PORTICO_PORT=(\d+)/.exec(image)?.[1];
    const dataDir = /PORTICO_DATA_DIR=(\S+)/.exec(image)?.[1];
    expect(image).to.include(`EXPOSE ${port}\n`).and.include(`VOLUME ${dataDir}\n`);
    expect(compose).to.include(`"127.0.0.1:${port}:${port}"`).and.include(`- data:${dataDir}\n`);
    const services = [...(/^services:\n([^]*?)^volumes:/m.exec(compose)?.[1] ?? "").matchAll(/^ {2}(\w+):$/gm)].map(([, name]) => name);
    expect(services).to.deep.equal(["portico", "prometheus", "grafana"]);
    expect(read("prometheus/prometheus.yml")).to.include(`targets: ["portico:${port}"]`).and.include("metrics_path: /api/metrics");
    const mounts = [...compose.matchAll(/^ {6}- (\S+?):(\/\S+?)(?::ro)?$/gm)].map(([, from = "", to = ""]) => ({ from, to }));
    for (const { from } of mounts.filter((mount) => mount.from.startsWith("./"))) expect(existsSync(`${folder}${from}`), from).to.equal(true);
    const named = mounts.filter(({ from }) => !from.startsWith("./")).map(({ from }) => from);
    expect([...(/^volumes:\n([^]*)$/m.exec(compose.slice(compose.lastIndexOf("\nvolumes:") + 1))?.[1] ?? "").matchAll(/^ {2}(\w+):$/gm)].map(([, name]) => name)).to.have.members(named);
    // What provisions Grafana names the folder in which the dashboard is mounted, and Prometheus by its service.
    expect(mounts.map(({ to }) => to)).to.include(/path: (\S+)/.exec(read("grafana/dashboards.yaml"))?.[1]);
    expect(read("grafana/datasource.yaml")).to.include("url: http://prometheus:9090");
    const board = read("grafana/grafana.json");
    const { panels, templating } = JSON.parse(board) as { panels: { id: number }[]; templating: { list: { name: string; type: string; query: string }[] } };
    // Whoever imports it chooses a data source: none is named.
    expect(templating.list.map(({ name, type, query }) => ({ name, type, query }))).to.deep.equal([{ name: "datasource", type: "datasource", query: /type: (\S+)/.exec(read("grafana/datasource.yaml"))?.[1] }]);
    const sources = [...board.matchAll(/"datasource": \{\s+"type": "prometheus",\s+"uid": "([^"]+)"/g)].map(([, uid]) => uid);
    expect(sources.length).to.be.above(panels.length);
    expect(new Set(sources)).to.deep.equal(new Set(["${datasource}"]));
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
  });

  it("name options that the host has", async () => {
    const { optionRows } = await import("../../examples/standalone/options.js");
    const variables = new Set(optionRows.map(({ name }) => `PORTICO_${name.toUpperCase().replaceAll("-", "_")}`));
    for (const file of ["Dockerfile", "portico.service"]) {
      for (const [name] of read(file).matchAll(/PORTICO_[A-Z_]+/g)) expect(variables.has(name), `${file}: ${name}`).to.equal(true);
    }
  });
});
