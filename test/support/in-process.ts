import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createOutput } from '../../src/cli/output.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { redactorOf } from '../../src/model/redaction/redactor.ts';
import { jsonLines, type Finished } from './engine.ts';
import { testHost } from './test-host.ts';

/**
 * The command line in the process of the test, from the sources: no start of Node, no loading of modules. For commands that
 * end by themselves; signals, crashes and the environment need a process of their own.
 */
export async function runInProcess(
  { root, repository }: { readonly root: string; readonly repository: string },
  args: readonly string[],
): Promise<Finished> {
  const host = testHost(root, { workingDirectory: repository, configHome: join(root, '.config') });
  const [stdout, stderr] = [collect(), collect()];
  let code = 0;
  const output = createOutput(stdout.stream, stderr.stream, redactorOf(host.environment, []));
  await runProgram([process.execPath, 'squad', ...args], { host, output, exit: (given) => void (code = given) });
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text(), lines: jsonLines(stdout.text()) };
}

export function collect(): { stream: NodeJS.WriteStream; text: () => string } {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write: (part: string, _, done) => {
      text += part;
      done();
    },
  });
  return { stream: stream as NodeJS.WriteStream, text: () => text };
}
