/** Requests made from the OpenAPI document, and mutated: every reply is one that it describes. */
import "./openapi-fuzz.test.js";
