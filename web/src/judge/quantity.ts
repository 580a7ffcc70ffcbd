// Kubernetes quantities, `1500m` or `1.5Gi`, as the API server understands them: whole numbers of 10^-9.

const QUANTITY = /^([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,3})|([numkMGTPE]?|[KMGTPE]i))$/;
const DECIMAL = new Map([
  ["n", -9], ["u", -6], ["m", -3], ["", 0], ["k", 3], ["M", 6], ["G", 9], ["T", 12], ["P", 15], ["E", 18],
]);
const MOST = ((1n << 63n) - 1n) * 10n ** 9n;
const LONGEST = 1000;

/** The amount in 10^-9, or undefined where the text is not a quantity; a finer one is rounded away from zero. */
export function parseQuantity(text: string): bigint | undefined {
  const match = text.length > LONGEST ? null : QUANTITY.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "", fraction = "", exponent, suffix = ""] = match;
  if (whole + fraction === "") return undefined;
  const isBinary = suffix.endsWith("i");
  const factor = isBinary ? 1024n ** BigInt("KMGTPE".indexOf(suffix.charAt(0)) + 1) : 1n;
  const power = isBinary ? 0 : exponent ? Number(exponent) : (DECIMAL.get(suffix) ?? 0);
  const shift = 9 + power - fraction.length;
  const amount = BigInt(whole + fraction) * factor * 10n ** BigInt(Math.max(shift, 0));
  const divisor = 10n ** BigInt(Math.max(-shift, 0));
  const rounded = (amount + divisor - 1n) / divisor;
  const nanos = rounded < MOST ? rounded : MOST;
  return sign === "-" ? -nanos : nanos;
}
