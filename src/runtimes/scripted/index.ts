import { fileURLToPath } from 'node:url';
import { scriptedCommand, type ScriptedFacts } from './command.ts';
import {
  beginScripted,
  concludeScripted,
  isScriptedTerminal,
  translateScripted,
  type ScriptedState,
} from './translate.ts';
import { signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';

/**
 * A runtime that plays a script in a real process: for demos, tests and embedding without a model. `settings.binary` is
 * the Node that runs the player; `settings.config.script` is the absolute path of the script.
 */
export function createScriptedAdapter(
  settings: RuntimeSettings & { readonly binary: string },
): CliAdapter<ScriptedFacts, ScriptedState> {
  const script = settings.config?.['script'];
  const facts: Omit<ScriptedFacts, 'directory'> = {
    settings,
    player: fileURLToPath(new URL('./player.mjs', import.meta.url)),
    node: settings.binary,
    script: typeof script === 'string' ? script : undefined,
  };
  return {
    name: 'scripted',
    description: {
      onlyByName: true,
      configFiles: { script: 'Write a script (docs/scripted.md) and name it there.' },
    },
    lookUp: (_request, directory) => Promise.resolve({ ...facts, directory }),
    command: scriptedCommand,
    begin: beginScripted,
    translate: translateScripted,
    isTerminal: isScriptedTerminal,
    conclude: concludeScripted,
    ladder: signals(2000, 'SIGTERM', 'SIGKILL'),
    probe: () => Promise.resolve({ ok: true, binary: facts.node, login: 'ok', sandbox: 'none', problems: [] }),
  };
}
