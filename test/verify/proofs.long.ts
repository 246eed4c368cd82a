/** Proofs of real chains: every changed bit of 1,000 of them is refused, every transaction is proven, and 10,000 random ones of each form are written as ARK Core writes them. */
import "./proofs.test.js";
import "./wire-form.test.js";
import "../client/proofs.test.js";
