import { childEnvironment } from '../../runtimes/shared/child-environment.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { plainLine } from '../../text/plain-text.ts';

const TIMEOUT_MS = 10_000;
const MOST_TEXT = 500;

interface Notice {
  readonly run: string;
  readonly what: string;
  /** Untrusted: it may come from an agent. */
  readonly text: string;
}

/**
 * Runs `notify` of the settings, to which a person has consented. The text is in its environment and never in the line that the shell
 * reads. Returns why it failed; undefined: it did not.
 */
export async function runNotifyCommand(
  {
    processes,
    environment,
  }: { processes: Pick<Processes, 'run'>; environment: Readonly<Record<string, string | undefined>> },
  { command, cwd }: { readonly command: string; readonly cwd: string },
  { run, what, text }: Notice,
): Promise<string | undefined> {
  const about = { SQUAD_RUN: run, SQUAD_EVENT: what, SQUAD_TEXT: plainLine(text, MOST_TEXT) };
  const { code, stderr, problem } = await processes.run('/bin/sh', ['-c', '--', command], {
    kind: 'notify',
    cwd,
    // Desktop notifications go to the person's own session.
    env: {
      ...childEnvironment(environment, ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR']),
      ...about,
    },
    timeoutMs: TIMEOUT_MS,
  });
  if (problem !== undefined) return problem;
  return code === 0 ? undefined : `it exited with ${code ?? 'a signal'}: ${plainLine(stderr, 300)}`;
}
