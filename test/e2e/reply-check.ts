import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** A reply and the request it answers. */
export interface Replied {
  method: string;
  /** The path from the root, with its query. */
  path: string;
  status: number;
  /** The parsed body. */
  body: unknown;
}

interface Response {
  $ref?: string;
  content?: Record<string, unknown>;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
}

const jsonType = "application/json";

const pointer = (...parts: string[]): string => `#/${parts.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;

const matches = (template: string, path: string): boolean => {
  const [wanted, given] = [template.split("/"), path.split("/")];
  return wanted.length === given.length && wanted.every((segment, index) => segment.startsWith("{") || segment === given[index]);
};

type ReplyCheck = (replied: Replied) => void;

/** By the document as text: compiling its schemas takes longer than most tests, and it is the same for most of them. */
const checks = new Map<string, ReplyCheck>();

/** Checks replies against an OpenAPI document: path, method and status must be in it, and the body must match its schema. */
export const createReplyCheck = (document: unknown): ReplyCheck => {
  const text = JSON.stringify(document);
  const check = checks.get(text) ?? checkBy(document as Document);
  checks.set(text, check);
  return check;
};

const checkBy = (document: Document): ReplyCheck => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, formats: { bigint: true } });
  ajv.addSchema(document, "openapi");
  const validators = new Map<string, ValidateFunction>();

  const templateOf = (path: string): string => {
    const found = path in document.paths ? path : Object.keys(document.paths).find((template) => matches(template, path));
    if (found === undefined) throw new Error(`The OpenAPI document has no path for ${path}`);
    return found;
  };

  const schemaAt = (template: string, method: string, status: string): string => {
    const response = document.paths[template]?.[method]?.responses[status];
    if (response === undefined) throw new Error(`The OpenAPI document knows no ${status} of ${method} ${template}`);
    const place = response.$ref ?? pointer("paths", template, method, "responses", status);
    return `openapi${place}${pointer("content", jsonType, "schema").slice(1)}`;
  };

  return ({ method, path, status, body }) => {
    const template = templateOf(path.replace(/\?.*$/, "").replace(/^\/api(?:\/numbers|\/strings)?(?:\/v2)?(?=\/|$)/, "") || "/");
    const place = schemaAt(template, method.toLowerCase(), String(status));
    const validate = validators.get(place) ?? ajv.compile({ $ref: place });
    validators.set(place, validate);
    if (!validate(body)) throw new Error(`${method} ${path}: the body ${ajv.errorsText(validate.errors)}`);
  };
};
