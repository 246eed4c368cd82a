/** A node killed 500 times while it imports and writes its lake: its store and lake are those of one that was not. */
import "./kills.test.js";
