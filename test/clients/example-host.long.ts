/** Every call of every client, of the second generation too, on the example host. */
import "./example-host.test.js";
