/** What was understood and is refused: a sentence for people, and what they can do next. */
export class InputError extends Error {
  constructor(
    message: string,
    readonly hint = "",
  ) {
    super(message);
  }
}

/** Bytes that are not what was promised: altered, damaged, or somebody else's. */
export class IntegrityError extends InputError {}

/** Nothing lies at an address. */
export class MissingError extends InputError {}

/** The server cannot be reached, or refuses. */
export class UnavailableError extends InputError {}
