/** Every client of the second generation, with amounts in both forms. */
import "./second-generation.test.js";
