import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "../../at-end.js";
import { parseExactJson } from "../../../src/http/input/exact-json.js";
import { readAsGo } from "./strict-reader.js";
import type { Structs } from "./structs.js";
import { type GoType, goText } from "./types.js";

/** One call of a client: what it asks for, and the name of the struct that it reads the reply into. */
export interface GoCall {
  path: string;
  /** Sent by `POST`, as JSON. */
  body?: unknown;
  into: string;
}

/** What a call came to: the value that was read, or why it could not be. */
export interface GoOutcome {
  value?: unknown;
  error?: string;
}

/** Calls a node as a Go client does. `base` ends in a slash. */
export type GoClient = (base: string, calls: readonly GoCall[], headers?: Record<string, string>) => Promise<GoOutcome[]>;

const source = (structs: Structs): string => `package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
)

type call struct {
	Path, Into string
	Body       json.RawMessage
}

type order struct {
	Base    string
	Headers map[string]string
	Calls   []call
}

type outcome struct {
	Value any    \`json:"value,omitempty"\`
	Error string \`json:"error,omitempty"\`
}

${Object.entries(structs)
  .map(([name, type]) => `type ${name} ${goText(type)}\n`)
  .join("\n")}
func target(into string) any {
	switch into {
${Object.keys(structs)
  .map((name) => `\tcase "${name}":\n\t\treturn new(${name})`)
  .join("\n")}
	}
	panic("there is no struct " + into)
}

func answer(o order, c call) (any, error) {
	method, body := "GET", io.Reader(nil)
	if c.Body != nil {
		method, body = "POST", bytes.NewReader(c.Body)
	}
	request, err := http.NewRequest(method, o.Base+c.Path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range o.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	value := target(c.Into)
	return value, json.NewDecoder(response.Body).Decode(value)
}

func main() {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		panic(err)
	}
	outcomes := make([]outcome, len(o.Calls))
	for i, c := range o.Calls {
		if value, err := answer(o, c); err != nil {
			outcomes[i].Error = err.Error()
		} else {
			outcomes[i].Value = value
		}
	}
	json.NewEncoder(os.Stdout).Encode(outcomes)
}
`;

/** What `go version` says; undefined where there is no Go. */
export const goVersion = (): string | undefined => {
  try {
    return execFileSync("go", ["version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
};

const run = (file: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }, input = ""): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(file, args, { ...options, maxBuffer: 64 * 2 ** 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${error.message}\n${stderr}`));
    });
    child.stdin?.end(input);
  });

/** Compiles a client with these structs. It needs nothing but Go's standard library. */
export const compileGoClient = async (structs: Structs): Promise<GoClient> => {
  const cwd = mkdtempSync(join(tmpdir(), "portico-go-"));
  atEnd(() => rm(cwd, { recursive: true, force: true }));
  // With cgo as it is set up here: some versions of Go have their library compiled for that alone.
  const env = { ...process.env, GO111MODULE: "off", GOFLAGS: "", GOTOOLCHAIN: "local" };
  writeFileSync(join(cwd, "main.go"), source(structs));
  await run("go", ["build", "-ldflags=-s -w", "-o", "client", "main.go"], { cwd, env });
  return async (base, calls, headers = {}) =>
    parseExactJson(await run(join(cwd, "client"), [], { cwd, env }, JSON.stringify({ base, headers, calls }))) as GoOutcome[];
};

const outcomeOf = (type: GoType | undefined, json: string): GoOutcome => {
  if (type === undefined) throw new Error("there is no such struct");
  try {
    return { value: readAsGo(type, json) };
  } catch (error) {
    return { error: String(error) };
  }
};

/** The same without Go: replies are read as strictly as Go's `encoding/json` reads them. */
export const strictClient =
  (structs: Structs): GoClient =>
  async (base, calls, headers = {}) => {
    const outcomes: GoOutcome[] = [];
    for (const { path, body, into } of calls) {
      const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(base + path, { ...sent, headers: { "Content-Type": "application/json", ...headers } });
      outcomes.push(outcomeOf(structs[into], await response.text()));
    }
    return outcomes;
  };
