// Rules between setters, such as `EPOCHS_BETWEEN_EVALS <= TRAIN_EPOCHS`: the part of CEL that packyard has, judged by
// the library cel-js. What the library does not judge as packyard does, for example whole numbers beyond 64 bits, is
// said to be not judged; it is never guessed.

import { Environment, serialize, type ASTNode } from "@marcbachmann/cel-js";
import { parseQuantity } from "./quantity";
import { fault, matches, PatternError } from "./regexp";
import { scalarValue, whole } from "./scalar";
import { fullType, hasValue, isList, mustBeSet, type Setter } from "./setter";
import { literal, shown } from "./words";

/** A condition, and the message for those who break it. */
export interface Rule {
  readonly text: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

/** `waits` is a rule one of whose values is still to be set. */
export type State = "holds" | "broken" | "waits" | "not judged";

export interface Verdict {
  readonly rule: Rule;
  readonly state: State;
  /** What is wrong, or why it is not judged; empty for a rule that holds or waits. */
  readonly words: string;
  /** The rule with the values that it names. */
  readonly hint: string;
}

type Setters = ReadonlyMap<string, Setter>;
type Context = Record<string, unknown>;
type Given = string | bigint | number | boolean | readonly string[];

class UndecidedError extends Error {}
/** There is no answer for these values, so that the rule is broken. */
class AnswerError extends Error {}
/** packyard's language does not have this, or has it with another meaning. */
class BeyondError extends Error {}

class Quantity {
  constructor(readonly nanos: bigint) {}
}

const LONGEST = 2000;
const DEEPEST = 40;
const SIGNS = new RegExp(`[!-]{${DEEPEST},}`);
const TOKEN =
  /\s+|(0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|([rR](?:"[^"\n]*"|'[^'\n]*')|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|([A-Za-z_][A-Za-z0-9_]*)|(\|\||&&|[=!<>]=|[-+*/%!<>?:()[\],.])/sy;
/** By what functions are called in the library: its own of these names differ, or cannot be replaced. */
const FUNCTIONS = new Map([
  ["has", "packyard_has"], ["matches", "packyard_matches"], ["int", "packyard_int"], ["double", "packyard_double"],
  ["size", "size"], ["quantity", "quantity"], ["startsWith", "startsWith"], ["endsWith", "endsWith"],
  ["contains", "contains"],
]);
const METHODS = new Set(["size", "matches", "startsWith", "endsWith", "contains"]);
const CALLS = new Set(["size", "matches", "quantity", "int", "double", "has"]);
const KINDS = new Map([["integer", "int"], ["number", "double"], ["boolean", "bool"], ["array", "list<string>"]]);
const ORDERS = new Set(["<", "<=", ">", ">="]);
const RELATIONS = new Set([...ORDERS, "==", "!=", "in"]);
/** What binds less than a relation, and so ends it. */
const BETWEEN = new Set(["&&", "||", "?", ":", ","]);
const OPERATORS = new Set([...ORDERS, "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "in", "!_", "-_", "?:", "value", "id", "call", "rcall", "list"]);
const ORDER_TYPES = new Set(["int", "double", "Quantity"]);
const EQUAL_TYPES = new Set([...ORDER_TYPES, "string", "bool"]);
const WORDS = new Map([["int", "a whole number"], ["double", "a number with a fraction"], ["bool", "true or false"], ["string", "a text"], ["Quantity", "a quantity"]]);
const FLOAT = /^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/;
/** What the library's own errors mean: these make a rule false for its values, all others leave it unjudged. */
const UNANSWERED = new Set(["division_by_zero", "modulo_by_zero"]);

/** Judge a rule for setters with their values. */
export function judgeRule(rule: Rule, setters: Setters): Verdict {
  const names: string[] = [];
  try {
    const translated = translate(rule.text, setters, names);
    if (names.length === 0) throw new BeyondError("it names no setter");
    return { rule, hint: hintOf(rule, names, setters), ...answer(translated, names, setters, rule) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { rule, state: "not judged", words: summaryOf(error), hint: hintOf(rule, names, setters) };
  }
}

/** The setters that a rule names, in the order of its text; none for a rule that cannot be read. */
export function namesOf(rule: Rule, setters: Setters): string[] {
  const names: string[] = [];
  try {
    translate(rule.text, setters, names);
  } catch (error) {
    if (!(error instanceof BeyondError)) throw error;
  }
  return names;
}

function answer(text: string, names: readonly string[], setters: Setters, rule: Rule): Pick<Verdict, "state" | "words"> {
  const environment = environmentOf(names, setters);
  const parsed = environment.parse(text);
  const checked = parsed.check();
  if (!checked.valid) throw checked.error ?? new BeyondError("its types do not fit");
  if (checked.type !== "bool") throw new BeyondError("it must be true or false: it compares nothing");
  const context = contextOf(names, setters);
  checkNode(parsed.ast, environment, context, 1);
  if (names.some((name) => mustBeSet(setters.get(name) as Setter))) return { state: "waits", words: "" };
  const said = rule.message.replace(/\.$/, "");
  try {
    return parsed(context) === true ? { state: "holds", words: "" } : { state: "broken", words: said };
  } catch (error) {
    const cause = causeOf(error);
    if (cause instanceof UndecidedError) return { state: "waits", words: "" };
    if (cause instanceof AnswerError) return { state: "broken", words: `${said}: ${cause.message}` };
    const reason = unanswered(error, environment, context);
    if (reason === undefined) throw error;
    return { state: "broken", words: `${said}: ${reason}` };
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}

interface CelError {
  readonly code: string;
  readonly summary: string;
  readonly node?: ASTNode;
}

function isCelError(error: unknown): error is Error & CelError {
  return error instanceof Error && "code" in error && "summary" in error;
}

function summaryOf(error: Error): string {
  return isCelError(error) ? error.summary : error.message;
}

/** Why a division has no answer, in packyard's words; undefined for other errors. */
function unanswered(error: unknown, environment: Environment, context: Context): string | undefined {
  if (!isCelError(error) || !UNANSWERED.has(error.code)) return undefined;
  const node = error.node;
  if (node === undefined || (node.op !== "/" && node.op !== "%")) return error.summary;
  const [one, other] = node.args.map((argument) => shown(String(environment.evaluate(serialize(argument), context))));
  return `${node.op} has no answer for ${one} and ${other}`;
}

/** Write a rule for the library: functions by other names, and `has(NAME)` with the name as a text. */
function translate(text: string, setters: Setters, names: string[]): string {
  if (text.length > LONGEST) throw new BeyondError(`the expression is longer than ${LONGEST} characters`);
  const tokens = tokensOf(text);
  if (SIGNS.test(tokens.map((token) => token.text).join(""))) throw new BeyondError("the expression is too deep"); // the library drops "!!"
  checkConditionals(tokens);
  checkRelations(tokens);
  let written = "";
  tokens.forEach(({ kind, text: token }, place) => {
    const isCall = tokens[place + 1]?.text === "(" && token !== "in";
    if (kind !== "name" || token === "true" || token === "false" || token === "in") written += `${token} `;
    else if (isCall) written += `${calledBy(token, tokens[place - 1]?.text === ".")} `;
    else {
      if (!setters.has(token)) throw new BeyondError(`there is no setter ${token}`);
      if (!names.includes(token)) names.push(token);
      written += isAskedFor(tokens, place) ? `${JSON.stringify(token)} ` : `${token} `;
    }
  });
  return written;
}

/** Refuse a condition within the first branch of another one that has no brackets, as CEL does. */
function checkConditionals(tokens: readonly Token[]): void {
  const open = [0];
  for (const { text } of tokens) {
    const last = open.length - 1;
    if (text === "(" || text === "[") open.push(0);
    else if (text === ")" || text === "]") open.pop();
    else if (text === ":") open[last] = (open[last] ?? 0) - 1;
    else if (text === "?") {
      if ((open[last] ?? 0) > 0) throw new BeyondError("'?' is not expected here");
      open[last] = (open[last] ?? 0) + 1;
    }
  }
}

/** Refuse a relation of a relation that has no brackets: CEL binds all of them alike, the library does not. */
function checkRelations(tokens: readonly Token[]): void {
  const open = [false];
  for (const { text } of tokens) {
    const last = open.length - 1;
    if (text === "(" || text === "[") open.push(false);
    else if (text === ")" || text === "]") open.pop();
    else if (BETWEEN.has(text)) open[last] = false;
    else if (RELATIONS.has(text)) {
      if (open[last]) throw new BeyondError("a comparison of a comparison needs brackets");
      open[last] = true;
    }
  }
}

function calledBy(name: string, isMethod: boolean): string {
  const known = (isMethod ? METHODS : CALLS).has(name) ? FUNCTIONS.get(name) : undefined;
  if (known === undefined) throw new BeyondError(`there is no function ${literal(name)} here`);
  return known;
}

function isAskedFor(tokens: readonly Token[], place: number): boolean {
  return tokens[place - 2]?.text === "has" && tokens[place - 1]?.text === "(" && tokens[place + 1]?.text === ")";
}

interface Token {
  readonly kind: "number" | "text" | "name" | "sign";
  readonly text: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const position = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new BeyondError(`${shown(text.charAt(position), true)} is not expected in an expression`);
    const [whole, number, quoted, name] = match;
    if (whole.trim() !== "") {
      tokens.push({ kind: number ? "number" : quoted ? "text" : name ? "name" : "sign", text: whole });
    }
  }
  return tokens;
}

function kindOf(setter: Setter): string {
  return KINDS.get(fullType(setter.type)) ?? "string";
}

function environmentOf(names: readonly string[], setters: Setters): Environment {
  const environment = new Environment({ limits: { maxDepth: 4 * DEEPEST, maxAstNodes: LONGEST } });
  environment.registerType("Quantity", { ctor: Quantity, fields: {} });
  environment.registerFunction("quantity(string): Quantity", (text: string) => new Quantity(quantityOf(text)));
  const quantities = (operator: string, result: string, of: (one: bigint, other: bigint) => boolean | bigint): void => {
    environment.registerOperator(`Quantity ${operator} Quantity: ${result}`, (one: Quantity, other: Quantity) => {
      const value = of(one.nanos, other.nanos);
      return typeof value === "bigint" ? new Quantity(value) : value;
    });
  };
  quantities("<", "bool", (one, other) => one < other);
  quantities("<=", "bool", (one, other) => one <= other);
  quantities(">", "bool", (one, other) => one > other);
  quantities(">=", "bool", (one, other) => one >= other);
  quantities("==", "bool", (one, other) => one === other);
  quantities("+", "Quantity", (one, other) => one + other);
  quantities("-", "Quantity", (one, other) => one - other);
  const times = (one: bigint | Quantity, other: bigint | Quantity): Quantity => new Quantity(nanosOf(one) * nanosOf(other));
  environment.registerOperator("Quantity * int: Quantity", times);
  environment.registerOperator("int * Quantity: Quantity", times);
  environment.registerFunction("packyard_has(string): bool", (name: string) => {
    const setter = setters.get(name);
    return setter !== undefined && hasValue(isList(setter) ? setter : { ...setter, values: undefined });
  });
  environment.registerFunction("packyard_matches(string, string): bool", matchesPattern);
  environment.registerFunction("string.packyard_matches(string): bool", matchesPattern);
  environment.registerFunction("packyard_int(string): int", intOf);
  environment.registerFunction("packyard_int(int): int", (value: bigint) => value);
  environment.registerFunction("packyard_int(double): int", truncated);
  environment.registerFunction("packyard_double(string): double", doubleOf);
  environment.registerFunction("packyard_double(int): double", (value: bigint) => Number(value));
  environment.registerFunction("packyard_double(double): double", (value: number) => value);
  for (const name of names) environment.registerVariable(name, kindOf(setters.get(name) as Setter));
  return environment;
}

function nanosOf(value: bigint | Quantity): bigint {
  return value instanceof Quantity ? value.nanos : value;
}

function quantityOf(text: string): bigint {
  const nanos = parseQuantity(text);
  if (nanos === undefined) throw new AnswerError(`${shown(text, true)} is not a quantity`);
  return nanos;
}

function intOf(text: string): bigint {
  const number = whole(text);
  if (number === undefined) throw new AnswerError(`${shown(text, true)} is not a whole number of 64 bits`);
  return number;
}

function truncated(value: number): bigint {
  if (!Number.isFinite(value)) throw new AnswerError(`int has no answer for ${value}`);
  return BigInt(Math.trunc(value));
}

function doubleOf(text: string): number {
  if (!FLOAT.test(text)) throw new AnswerError(`${shown(text, true)} is not a number`);
  return Number(text);
}

function matchesPattern(text: string, pattern: string): boolean {
  try {
    return matches(pattern, text);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new AnswerError(`the pattern ${shown(pattern, true)} has no answer: ${error.message}`);
  }
}

/** The values by name; to read one that is missing, or of another type, throws, as in CEL an error that may not matter. */
function contextOf(names: readonly string[], setters: Setters): Context {
  const context: Context = Object.create(null) as Context;
  for (const name of names) {
    const setter = setters.get(name) as Setter;
    Object.defineProperty(context, name, { enumerable: true, get: () => valueOf(setter) });
  }
  return context;
}

function valueOf(setter: Setter): Given {
  const kind = kindOf(setter);
  if (isList(setter)) return setter.values ?? [];
  if (kind === "string") return setter.value;
  if (setter.value === "") throw new UndecidedError(setter.name);
  const value = scalarValue(setter.value);
  if (kind === "bool" && typeof value === "boolean") return value;
  if (kind === "double" && (typeof value === "bigint" || typeof value === "number")) return Number(value);
  if (kind === "int" && typeof value === "bigint") return value;
  if (kind === "int" && typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63) {
    return BigInt(value);
  }
  throw new AnswerError(`${shown(setter.value, true)} is not of type ${setter.type}`);
}

/** Refuse what the library understands and packyard does not, or otherwise. */
function checkNode(node: ASTNode, environment: Environment, context: Context, depth: number): void {
  if (depth > DEEPEST) throw new BeyondError("the expression is too deep");
  if (!OPERATORS.has(node.op)) throw new BeyondError(`packyard's rules have no ${node.op}`);
  if (node.op === "value" && !["string", "bigint", "number", "boolean"].includes(typeof node.args)) {
    throw new BeyondError("packyard's rules have no such literal");
  }
  if (node.op === "list" && node.args.length === 0) throw new BeyondError("a list holds texts, or numbers of one kind, at least one");
  const known = ORDERS.has(node.op) ? ORDER_TYPES : node.op === "==" || node.op === "!=" ? EQUAL_TYPES : undefined;
  if (known !== undefined) checkTypes(node, known, environment);
  if (node.op === "/" || node.op === "call" || node.op === "rcall") checkMeaning(node, environment, context);
  for (const child of childrenOf(node)) checkNode(child, environment, context, depth + 1);
}

function checkTypes(node: ASTNode, known: ReadonlySet<string>, environment: Environment): void {
  const types = childrenOf(node).map((child) => environment.check(serialize(child)).type ?? "");
  if (types.every((type) => known.has(type))) return;
  throw new BeyondError(`${node.op} does not take ${types.map((type) => WORDS.get(type) ?? `a ${type}`).join(" and ")}`);
}

function checkMeaning(node: ASTNode, environment: Environment, context: Context): void {
  if (node.op === "/") {
    const [, divisor] = node.args;
    const text = serialize(divisor);
    if (environment.check(text).type !== "double") return;
    try {
      if (environment.evaluate(text, context) !== 0) return;
    } catch (error) {
      if (isCelError(error) || error instanceof AnswerError || error instanceof UndecidedError) return;
      throw error;
    }
    throw new BeyondError("it divides by zero");
  }
  const pattern = node.op === "call" && node.args[0] === "packyard_matches" ? node.args[1][1]
    : node.op === "rcall" && node.args[0] === "packyard_matches" ? node.args[2][0] : undefined;
  if (pattern === undefined) return;
  if (pattern.op !== "value" || typeof pattern.args !== "string") throw new BeyondError("matches takes a pattern that is written out");
  const wrong = fault(pattern.args);
  if (wrong !== "") throw new BeyondError(`the pattern is wrong: ${wrong}`);
}

function childrenOf(node: ASTNode): ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "list":
      return node.args;
    case "!_":
    case "-_":
      return [node.args];
    case "?:":
      return node.args;
    default:
      return (node.args as ASTNode[]).filter((child) => typeof child === "object");
  }
}

function hintOf(rule: Rule, names: readonly string[], setters: Setters): string {
  const values = names.map((name) => {
    const setter = setters.get(name) as Setter;
    const texts = isList(setter) ? (setter.values ?? []) : [setter.value];
    return `${name} is ${texts.map((text) => shown(text)).join(", ")}`;
  });
  return [`the rule is ${rule.text}`, ...(values.length > 0 ? [values.join(", ")] : [])].join("; ");
}
