import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { requireProgram, type Host } from '../../engine/machine.ts';
import { SquadError, wrongEnvironment } from '../../model/errors.ts';
import type { SshAddress } from '../../model/ssh-address.ts';
import { childEnvironment } from '../../runtimes/shared/child-environment.ts';
import { callOverSsh, type SshAnswer } from '../../substrate/system/process/call-over-ssh.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { ANSWER, ANSWERS, failedSchema, type MoveAnswer, type MoveRequest } from './move-messages.ts';
import type { MovingSide } from './move-side.ts';

interface SshSideOptions {
  readonly host: Pick<Host, 'environment' | 'stateDirectory' | 'pid'>;
  /** Where `ssh` is. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The version of squad here. */
  readonly squad: string;
}

/** A repository of another machine. Each call is one connection, so that nothing is open while a person reads. */
function sshSide(address: SshAddress, options: SshSideOptions): MovingSide {
  const call = async <Ask extends MoveRequest['ask']>(
    request: Extract<MoveRequest, { readonly ask: Ask }>,
    files: { readonly upload?: string; readonly download?: string } = {},
  ): Promise<MoveAnswer<Ask>> => askOverSsh(address, options, request, files);
  const download = (move: string): string => join(options.host.stateDirectory, `fetched-${move}.tar`);
  return {
    url: address.url,
    look: async (coming) => call<'look'>({ ask: 'look', ...(coming === undefined ? {} : { coming: [...coming] }) }),
    pack: async (move, other, now) => call<'pack'>({ ask: 'pack', move, other, now }),
    fetch: async (move) => {
      const path = download(move);
      await rm(path, { force: true });
      await call<'send'>({ ask: 'send', move }, { download: path });
      return path;
    },
    commit: async (move, other) => void (await call<'commit'>({ ask: 'commit', move, other })),
    goBack: async (move) => {
      await rm(download(move), { force: true });
      await call<'go-back'>({ ask: 'go-back', move });
    },
    done: async (move) => {
      await rm(download(move), { force: true });
      await call<'done'>({ ask: 'done', move });
    },
    take: async (move, other, pack, agreed) => {
      const { size: bytes } = await stat(pack);
      const upload = { upload: pack };
      return (await call<'take'>({ ask: 'take', move, other, bytes, agreed: [...agreed] }, upload)).id;
    },
    discard: async (move) => void (await call<'discard'>({ ask: 'discard', move })),
    begin: async (move, run) => call<'begin'>({ ask: 'begin', move, ...(run === undefined ? {} : { run }) }),
  };
}

async function askOverSsh<Ask extends MoveRequest['ask']>(
  address: SshAddress,
  { program, environment, squad }: SshSideOptions,
  request: Extract<MoveRequest, { readonly ask: Ask }>,
  files: { readonly upload?: string; readonly download?: string },
): Promise<MoveAnswer<Ask>> {
  const envelope = JSON.stringify({ squad, path: address.path, request });
  const got = await callOverSsh(address, {
    ...{ kind: 'ssh', program, environment, request: envelope, marker: ANSWER },
    ...files,
  });
  if (got.answer === undefined) throw noAnswer(address, got);
  const json = parseJson(got.answer);
  const failed = failedSchema.safeParse(json).data?.failed;
  if (failed !== undefined) throw errorFrom(address, failed);
  const answer = ANSWERS[request.ask].safeParse(json).data as MoveAnswer<Ask> | undefined;
  if (answer === undefined || got.code !== 0) throw noAnswer(address, got);
  return answer;
}

/** An error of squad there, with the machine that it is about. */
function errorFrom(
  { host }: SshAddress,
  { code, message, next }: { code: SquadError['code']; message: string; next?: string | undefined },
): SquadError {
  return new SquadError({
    code,
    message: `on ${host}: ${plainLine(message, 2000)}`,
    ...(next === undefined ? {} : { next: `On ${host}: ${plainLine(next, 1000)}` }),
  });
}

function noAnswer({ host, url }: SshAddress, { code, said }: SshAnswer): SquadError {
  const last = plainLine(said.trim().split('\n').at(-1) ?? '', 500);
  const why = last === '' ? '' : `: ${last}`;
  if (code === 127 || /squad: (?:command )?not found|exec: squad/.test(said))
    return wrongEnvironment(
      `on ${host} a login shell finds no squad${why}`,
      `Install it there, or put it on the PATH of a login shell. To see it: \`ssh ${host} 'exec "$SHELL" -l -c "command -v squad"'\`.`,
    );
  if (code === 2)
    return wrongEnvironment(`squad on ${host} cannot take part in a move${why}`, 'Install the same version there.');
  return wrongEnvironment(
    `${url} cannot be reached, or the connection was cut${why}`,
    `Log in with \`ssh\` alone first, as squad never asks for a password or about a host key. Then run the command again: it finishes, or goes back.`,
  );
}

/** The variables that `ssh` logs in with. */
const OF_SSH = ['SSH_AUTH_SOCK', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'KRB5CCNAME'];

/** Throws `wrong-environment` where there is no `ssh`. */
export async function openSshSide(host: Host, address: SshAddress, squad: string): Promise<MovingSide> {
  const program = await requireProgram(host, 'ssh');
  const environment = childEnvironment(host.environment, OF_SSH);
  return sshSide(address, { host, program, environment, squad });
}
