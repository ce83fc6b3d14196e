/** `{port}` in a command, and not a part of `${port}` or `{{port}}`. */
const PLACE = /(?<![${])\{port\}(?!\})/g;

/** The variable with the same number. */
export const PORT_VARIABLE = 'SQUAD_PORT';

export function withPort(command: string, port: number): string {
  return command.replaceAll(PLACE, String(port));
}

export function namesPort(command: string): boolean {
  return command.search(PLACE) >= 0 || command.includes(PORT_VARIABLE);
}

const IN_USE = /EADDRINUSE|already in use|is in use|already allocated|already used/i;

/** Whether a line of a command's output says that something else has this port. */
export function saysTaken(output: string, port: number): boolean {
  const named = (line: string): boolean => [...line.matchAll(/\d+/g)].some(([number]) => number === String(port));
  return output.split('\n').some((line) => IN_USE.test(line) && named(line));
}
