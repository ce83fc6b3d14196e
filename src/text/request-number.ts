/** The number of a pull request of GitHub, from its address. undefined: it is none. */
export function requestNumber(url: string): number | undefined {
  const [, number] = /\/pull\/(\d{1,15})$/.exec(url) ?? [];
  return number === undefined ? undefined : Number(number);
}
