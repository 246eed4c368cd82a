import { readFileSync } from "node:fs";
import ts from "typescript";

/** What the entry points take, as the docstrings of its members say it: hosts see these, and the table of options is made of them. */

export interface OptionDoc {
  /** Of a member of an object: `rateLimit.perMinute`. */
  name: string;
  isOptional: boolean;
  /** Whether it may be a number. */
  isNumber: boolean;
  text: string;
  /** What follows `@default`. */
  default: string | undefined;
}

const root = new URL("../../", import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { exports: Record<string, { import?: string }> };

/** By name: interfaces that users of the package fill in. */
const takes = /^[A-Z]\w*Options$|^(?:Node|Reader)Context$|^WithProof$|^TipPublisherNeeds$|^NatsMeasured$/;

/** The project's own files: what a docstring says needs no other package. */
const program = (): { files: ts.SourceFile[]; checker: ts.TypeChecker } => {
  const entries = Object.values(exports).flatMap(({ import: file }) => file?.replace(/^\.\/dist\/(.*)\.js$/, new URL("$1.ts", root).pathname) ?? []);
  const options: ts.CompilerOptions = { noLib: true, types: [], module: ts.ModuleKind.NodeNext };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => {
      const resolvedFileName = new URL(text.replace(/\.js$/, ".ts"), `file://${from}`).pathname;
      return { resolvedModule: text.startsWith(".") ? { resolvedFileName, extension: ts.Extension.Ts } : undefined };
    });
  const made = ts.createProgram(entries, options, host);
  return { files: entries.flatMap((file) => made.getSourceFile(file) ?? []), checker: made.getTypeChecker() };
};

const oneLine = (text: string | undefined): string => (text ?? "").replaceAll(/\s*\n\s*/g, " ").trim();

/** The types of a union, or the type itself. */
const partsOf = (type: ts.TypeNode | undefined): readonly ts.TypeNode[] => {
  if (type === undefined) return [];
  if (ts.isParenthesizedTypeNode(type)) return partsOf(type.type);
  return ts.isUnionTypeNode(type) ? type.types.flatMap(partsOf) : [type];
};

const docsOf = (members: readonly ts.TypeElement[], before = ""): OptionDoc[] =>
  members.filter(ts.isPropertySignature).flatMap((member) => {
    const name = before + member.name.getText();
    const comments = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
    const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === "default");
    const own: OptionDoc = {
      name,
      isOptional: member.questionToken !== undefined,
      isNumber: partsOf(member.type).some(({ kind }) => kind === ts.SyntaxKind.NumberKeyword),
      text: oneLine(comments.map(({ comment }) => ts.getTextOfJSDocComment(comment)).join(" ")),
      default: tag === undefined ? undefined : oneLine(ts.getTextOfJSDocComment(tag.comment)),
    };
    return [own, ...docsOf(partsOf(member.type).filter(ts.isTypeLiteralNode).flatMap((literal) => [...literal.members]), `${name}.`)];
  });

/** The members of every interface that an entry point takes, by its name. */
export const optionDocs = (): Record<string, OptionDoc[]> => {
  const { files, checker } = program();
  const symbols = files.flatMap((file) => {
    const module = checker.getSymbolAtLocation(file);
    return module === undefined ? [] : checker.getExportsOfModule(module);
  });
  const named = symbols
    .filter(({ name }) => takes.test(name))
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
  const membersOf = ({ declarations = [] }: ts.Symbol): ts.TypeElement[] => declarations.filter(ts.isInterfaceDeclaration).flatMap(({ members }) => [...members]);
  return Object.fromEntries(named.map((symbol) => [symbol.name, docsOf(membersOf(symbol))]));
};

/** A default that is written as JSON, and a remark on it; the whole is a remark where it is not. */
export const readDefault = (text: string): { json: string | undefined; remark: string } => {
  const [, json, remark = ""] = /^(\[.*?\]|\{.*?\}|"[^"]*"|\d+|true|false)(?: \((.*)\))?$/.exec(text) ?? [];
  return json === undefined ? { json, remark: text } : { json, remark };
};
