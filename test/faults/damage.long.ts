/** Bytes of a store's file changed at random places: each change is found, or harmless. */
import "./damage.test.js";
