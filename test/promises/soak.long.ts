/** A soak: 4,500 blocks (ten hours of them) in some minutes, while the node is read, followed and delivers: first and last tenth are printed. */
import "./soak.test.js";
