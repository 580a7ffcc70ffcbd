// The types of the fields of built-in kinds, and the keys by which a strategic merge joins their lists: packyard's own
// table (core/kubernetes/fieldtypes.json), loaded where it is needed.

export type Step = string | number;

type Shape = string | number | { readonly items?: Shape; readonly values?: Shape };

export interface FieldTable {
  readonly kinds: Readonly<Record<string, Shape>>;
  readonly fields: readonly Readonly<Record<string, Shape>>[];
  readonly mergeKeys: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Looks fields up by apiVersion, kind and path. */
export class FieldTypes {
  constructor(private readonly table: FieldTable) {}

  /** string, integer, number, boolean or int-or-string; undefined where the field is not a known scalar. */
  typeAt(apiVersion: string, kind: string, path: readonly Step[]): string | undefined {
    const { shape } = this.find(apiVersion, kind, path);
    return typeof shape === "string" ? shape : undefined;
  }

  /** The key by which a strategic merge matches the items of the list at a path. */
  mergeKey(apiVersion: string, kind: string, path: readonly Step[]): string | undefined {
    return this.find(apiVersion, kind, path).mergeKey;
  }

  private find(apiVersion: string, kind: string, path: readonly Step[]): { shape: Shape | undefined; mergeKey: string | undefined } {
    let shape = own(this.table.kinds, `${apiVersion} ${kind}`);
    let mergeKey: string | undefined;
    for (const step of path) {
      if (typeof step === "number") shape = typeof shape === "object" ? shape.items : undefined;
      else if (typeof shape === "object") shape = shape.values;
      else if (typeof shape === "number") {
        mergeKey = own(own(this.table.mergeKeys, String(shape)) ?? {}, step);
        shape = own(this.table.fields[shape] ?? {}, step);
      } else return { shape: undefined, mergeKey: undefined };
    }
    return { shape, mergeKey };
  }
}

function own<Item>(table: Readonly<Record<string, Item>>, key: string): Item | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
