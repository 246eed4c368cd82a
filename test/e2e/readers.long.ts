/** Readers of a store, asked without a pause while twice as many blocks are written. */
import "./readers.test.js";
