import { badInput } from '../../model/errors.ts';
import { ownProgram, type CommandContext } from '../command-context.ts';

/** Variables without which the service would see another machine than this shell. */
const KEPT = ['PATH', 'SQUAD_STATE', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'];

/** Prints a unit for `systemctl --user`, with the program, the PATH and the folder of this shell. */
export function serveUnit({ host, output }: CommandContext, root: string): void {
  const variables = KEPT.flatMap((name) => {
    const value = host.environment[name];
    return value === undefined || value === '' ? [] : [`Environment=${quoted(`${name}=${value}`)}`];
  });
  const unit = [
    '[Unit]',
    `Description=squad serve in ${escaped(root)}`,
    '',
    '[Service]',
    'Type=exec',
    `WorkingDirectory=${escaped(root)}`,
    ...variables,
    `ExecStart=${[...ownProgram(host), 'serve'].map(argument).join(' ')}`,
    '# The service ends its engine itself, which ends the turns.',
    'KillMode=mixed',
    'TimeoutStopSec=90',
    'Restart=on-failure',
    'RestartSec=10',
    '# Settings that a person has to correct, and a second service.',
    'RestartPreventExitStatus=2 65 75 78',
    '',
    '[Install]',
    'WantedBy=default.target',
  ];
  for (const line of unit) output.line(line, 'exact');
}

/** `%` begins a specifier. */
function escaped(text: string): string {
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw badInput(
      'a path or variable for the unit has a control character',
      'Write the unit yourself: docs/serve.md has one.',
    );
  return text.replaceAll('%', '%%');
}

/** A word in quotes, as systemd reads it. */
function quoted(word: string): string {
  return `"${escaped(word)
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)}"`;
}

/** Also `$`, which begins a variable in a command, and nothing in `Environment`. */
function argument(word: string): string {
  return quoted(word).replaceAll('$', '$$$$');
}
