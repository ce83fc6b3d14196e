/** A path that a variable names; undefined where it is empty or relative: that means another place in each folder. */
export function absolutePath(value: string | undefined): string | undefined {
  return value?.startsWith('/') === true ? value : undefined;
}
