/** A healthy client beside floods of eleven kinds, 1,000 connections each: prints its waits, idle and flooded. `--count`: connections. */
import "./floods.test.js";
