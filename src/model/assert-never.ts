/** Ends a `switch` over a union: a new member is a compile error, and a foreign value a clear bug. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
