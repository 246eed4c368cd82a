/** A node, three replicas behind nginx and two delivery workers, killed and held up at random (200 times), NATS servers that lose all, a lake whose writer is killed. */
import "../lake/killed.test.js";
import "../nats/tip.test.js";
import "./killed.test.js";
