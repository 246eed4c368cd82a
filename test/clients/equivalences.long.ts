/** What the contract declares equal, asked both ways for every wallet. */
import "./equivalences.test.js";
