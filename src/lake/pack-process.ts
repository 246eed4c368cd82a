import { createReadStream } from "node:fs";
import { answerTask } from "../background-process.js";
import { gzipInto, type PackTask } from "./files.js";

/** The program that compresses a file into another. */
answerTask(({ from, to }: PackTask) => gzipInto(to, createReadStream(from)));
