import { createRequire } from "node:module";

/**
 * The clients that the network's programs are built on, unmodified from npm, behind one interface: which methods each resource has,
 * and a way to call them. Where a client throws for an error response, that response is the answer here.
 */

export interface ClientAnswer {
  status: number;
  body: unknown;
}

type Method = (...args: unknown[]) => Promise<unknown>;

/** A client connected to one host. */
export interface Client {
  call(resource: string, method: string, args: unknown[]): Promise<ClientAnswer>;
}

export interface ClientPackage {
  name: string;
  /** Methods by resource. */
  methods: Record<string, string[]>;
  /** Whether searches accept a query besides their body. */
  searchesTakeQuery: boolean;
  /** `origin` is like `http://127.0.0.1:4003`. */
  connect(origin: string): Client;
}

/** Version 0.1, whose headers its users may set. */
interface FirstClientPackage extends ClientPackage {
  /** `headers` are sent instead of the client's own. */
  connect(origin: string, headers?: Record<string, string>): Client;
}

const load = createRequire(import.meta.url);

const methodsOf = (classes: Record<string, { prototype: object }>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(classes).map(([name, { prototype }]) => [
      name.toLowerCase(),
      Object.getOwnPropertyNames(prototype).filter((method) => method !== "constructor"),
    ]),
  );

const methodOf = (resource: object, method: string): Method => {
  const found = (resource as Record<string, Method | undefined>)[method];
  if (found === undefined) throw new Error(`the client has no method ${method}`);
  return found.bind(resource);
};

interface FirstClient {
  http: { setHeaders(headers: Record<string, string>): void };
  resource(name: string): object;
}
/** What axios returns, and what it throws. */
interface AxiosResponse {
  status: number;
  data: unknown;
}

/** Version 0.1: one package for both generations, selected by a header. */
export const firstClient = (version: 1 | 2): FirstClientPackage => {
  const Client = load("client-0.1") as new (host: string, version: number) => FirstClient;
  const resources = load("client-0.1/lib/resources") as Record<string, Record<string, { prototype: object }>>;
  return {
    name: `client 0.1.25, generation ${version}`,
    methods: methodsOf(resources[`v${version}`] ?? {}),
    searchesTakeQuery: false,
    connect: (origin, headers) => {
      const client = new Client(origin, version);
      if (headers !== undefined) client.http.setHeaders(headers);
      return {
        call: async (resource, method, args) => {
          const { status, data } = await answered<AxiosResponse>(methodOf(client.resource(resource), method)(...args));
          return { status, body: data };
        },
      };
    },
  };
};

interface LaterPackage {
  Connection: new (host: string) => { api(name: string): object };
  Resources: Record<string, { prototype: object }>;
}

/** Versions 1.0 and later. `prefix` is the path at the end of the host that such a client is given. */
export const laterClient = (alias: string, version: string, prefix: "/api" | "/api/v2"): ClientPackage => {
  const { Connection, Resources } = load(alias) as LaterPackage;
  return {
    name: `client ${version} at ${prefix}`,
    methods: methodsOf(Resources),
    searchesTakeQuery: alias !== "client-1.0",
    connect: (origin) => {
      const connection = new Connection(`${origin}${prefix}`);
      return {
        call: async (resource, method, args) => {
          const { status, body } = await answered<ClientAnswer>(methodOf(connection.api(resource), method)(...args));
          return { status, body };
        },
      };
    },
  };
};

/**
 * The response that a client resolves with, or that it throws for an error status; any other exception is the client's own. Of
 * that, only message and stack are thrown on: from its members, `node:http` itself can be reached, and mocha empties all that it
 * reaches from the error of a failed test when it reports to another process, so that each later test of this one would fail.
 */
const answered = async <Answer>(call: Promise<unknown>): Promise<Answer> => {
  try {
    return (await call) as Answer;
  } catch (error) {
    const { response, message, stack = message } = error as Error & { response?: Answer };
    if (response === undefined) throw Object.assign(new Error(message), { stack });
    return response;
  }
};

/** Each at the address that its documentation recommends. */
export const secondGenerationClients: ClientPackage[] = [
  firstClient(2),
  laterClient("client-1.0", "1.0.5", "/api/v2"),
  laterClient("client-1.1", "1.1.4", "/api"),
  laterClient("client-2.0", "2.0.0", "/api/v2"),
  laterClient("client-3.0", "3.0.0", "/api"),
];
