/** Where commands print. A closed pipe (`squad log | head`) ends the printing, not the work. */
export interface Output {
  line(text: string): void;
  json(value: unknown): void;
  problem(text: string): void;
  /** For a status that is overwritten; undefined where nobody watches. */
  readonly status: ((text: string) => void) | undefined;
}

export function createOutput(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream): Output {
  let open = true;
  const close = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') open = false;
    else throw error;
  };
  stdout.on('error', close);
  stderr.on('error', close);
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (open) stream.write(`${text}\n`);
  };
  return {
    line: (text) => write(stdout, text),
    json: (value) => write(stdout, JSON.stringify(value)),
    problem: (text) => write(stderr, text),
    status: stderr.isTTY ? (text) => void stderr.write(`\r\u001b[K${text}`) : undefined,
  };
}
