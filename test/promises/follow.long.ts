/** A host that forks and tells of it late, twice, in no order, in part or not at all: 10,000 schedules against a model. */
import "./schedules.test.js";
