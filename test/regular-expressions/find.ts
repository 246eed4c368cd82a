import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Regular expressions of the code: where they stand, and which of them repeat without a bound. */
export interface Expression {
  file: string;
  source: string;
  flags: string;
}

const sourceFiles = ["src", "types", "examples"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => /\.[cm]?[jt]s$/.test(path) && !path.includes("node_modules")),
);

/** Literals, what is given to `new RegExp` (as code), and the patterns of schemas. */
const textOf = (node: ts.Node): { source: string; flags: string } | undefined => {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf("/");
    return { source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
  }
  if (ts.isNewExpression(node) && node.expression.getText() === "RegExp") return { source: node.arguments?.[0]?.getText() ?? "", flags: "" };
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== "pattern" || !/["`]/.test(node.initializer.getText())) return undefined;
  return { source: ts.isStringLiteral(node.initializer) ? node.initializer.text : node.initializer.getText(), flags: "u" };
};

const expressionsIn = (file: string): Expression[] => {
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    const expression = textOf(node);
    if (expression !== undefined) found.push({ file, ...expression });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  return found;
};

/** `*`, `+` or `{n,}`, neither escaped nor in a class. */
export const repeats = (source: string): boolean => /[*+]|\{\d+,\}/.test(source.replace(/\\./g, "e").replace(/\[[^\]]*\]/g, "c"));

export const repeatingExpressions = (): Expression[] => sourceFiles.flatMap(expressionsIn).filter(({ source }) => repeats(source));
