// Values in sentences, spelled as packyard's command line spells them (core/errors.py).

const MOST_SHOWN = 80; // characters of a value
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const SHORT_ESCAPES = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"], ["\\", "\\\\"]]);

/** The characters of a text; halves of surrogate pairs count as one each. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** A value for people: in quotes where it would be misread without, or always; a long one cut short. */
export function shown(value: string, isQuoted = false): string {
  const characters = value.length > MOST_SHOWN ? [...value] : [];
  const text = characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN).join("")}…` : value;
  const isPrintable = !UNPRINTABLE.test(text);
  if (!isQuoted && text !== "" && text.trim() === text && isPrintable) return text;
  return isPrintable && !text.includes("'") ? `'${text}'` : literal(text);
}

/** A text as Python writes it in its own code, on one line. */
export function literal(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let written = "";
  for (const character of text) written += character === quote ? `\\${quote}` : escaped(character);
  return quote + written + quote;
}

function escaped(character: string): string {
  const known = SHORT_ESCAPES.get(character);
  if (known !== undefined) return known;
  if (!UNPRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const [letter, width] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(width, "0")}`;
}

/** A number of a definition, as it stands there. */
export function numberText(value: bigint | number): string {
  if (typeof value === "bigint") return String(value);
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = Math.abs(value) < 1e-6 ? value.toFixed(digits.replace(/[-.]/g, "").length - 1 - power) : String(value);
  return /[.]/.test(text) ? text : Object.is(value, -0) ? "-0.0" : `${text}.0`;
}

/** `a`, `a and b`, `a, b and c`. */
export function joined(parts: readonly string[], conjunction: string): string {
  const first = parts.slice(0, -1).join(", ");
  return [first, parts[parts.length - 1] ?? ""].filter((part) => part !== "").join(` ${conjunction} `);
}

/** A word of a command as a POSIX shell reads it back. */
export function shellQuoted(text: string): string {
  return text !== "" && /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
