/** Ends a `switch` over a union. A missing member is a compile error; an unknown value throws. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
