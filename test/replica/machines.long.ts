/** A node, three replicas and a reader: processes killed, stopped and held up at random (200 times); states and what the reader saw are compared. */
import "./killed.test.js";
