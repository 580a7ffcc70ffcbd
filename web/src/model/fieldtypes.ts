// The types of the fields of built-in kinds, and the keys by which a strategic merge joins their lists: packyard's own
// table (core/kubernetes/fieldtypes.json), loaded where it is needed.

export type Step = string | number;

type Shape = string | number | { readonly items?: Shape; readonly values?: Shape };

interface Shapes {
  readonly kinds: Readonly<Record<string, Shape>>;
  readonly fields: readonly Readonly<Record<string, Shape | null>>[];
}

export interface FieldTable extends Shapes {
  readonly merged: Shapes & { readonly mergeKeys: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> };
}

/** Looks fields up by apiVersion, kind and path. */
export class FieldTypes {
  constructor(private readonly table: FieldTable) {}

  /** string, integer, number, boolean or int-or-string; undefined where the field is not a known scalar. */
  typeAt(apiVersion: string, kind: string, path: readonly Step[]): string | undefined {
    const shape = shapeAt(this.table, apiVersion, kind, path);
    return typeof shape === "string" ? shape : undefined;
  }

  /** The keys by which a strategic merge matches the items of the list at a path. */
  mergeKeys(apiVersion: string, kind: string, path: readonly Step[]): readonly string[] {
    const above = shapeAt(this.table.merged, apiVersion, kind, path.slice(0, -1));
    return own(own(this.table.merged.mergeKeys, String(above)) ?? {}, String(path.at(-1))) ?? [];
  }
}

function shapeAt(table: Shapes, apiVersion: string, kind: string, path: readonly Step[]): Shape | undefined {
  let shape = own(table.kinds, `${apiVersion} ${kind}`);
  for (const step of path) {
    if (typeof step === "number") shape = typeof shape === "object" ? shape.items : undefined;
    else if (typeof shape === "object") shape = shape.values;
    else if (typeof shape === "number") shape = own(table.fields[shape] ?? {}, step) ?? undefined;
    else return undefined;
  }
  return shape;
}

function own<Item>(table: Readonly<Record<string, Item>>, key: string): Item | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
