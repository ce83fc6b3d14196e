// @module-tag all
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONG_FAN_OUT } from '../support/damages/room.ts';
import { elsewhere, prepare } from '../support/elsewhere.ts';
import { createRepository } from '../support/git.ts';
import { inRunRoom } from '../support/run-room.ts';
import { noSsh, startSshServer } from '../support/ssh-server.ts';

const missing = noSsh();

describe.skipIf(missing !== undefined)(`a move${missing === undefined ? '' : `: ${missing}`}`, () => {
  it('is refused with a reason and changes nothing', { timeout: 300_000 }, async () => {
    await inRunRoom(LONG_FAN_OUT, async (room) => {
      prepare(room);
      const { clone, home } = elsewhere(room);
      const server = await startSshServer(room.root, home);
      const at = `ssh://${userInfo().username}@127.0.0.1:${server.port}`;
      const engine = room.begin({ SQUAD_FAILPOINTS: 'attempt.settled:2=kill' });
      await engine.finished;
      const squad = join(home, 'bin', 'squad');
      const PATH = `${server.bin}:${process.env['PATH']}`;
      const refusal = async (url: string, words: readonly string[] = ['--yes'], environment = { PATH }) => {
        const { code, stderr } = await room.run(['move', url, ...words], environment);
        return [code, stderr] as const;
      };
      const says = (text: string): string => expect.stringContaining(text) as string;
      try {
        expect(await refusal(`${at}/nowhere`)).toEqual([78, says('there is no folder /nowhere')]);
        expect(await refusal(`${at}${encodeURI(home)}`)).toEqual([78, says('not in a git')]);
        const url = `${at}${encodeURI(clone)}`;
        const [code, asked] = await refusal(url, []);
        expect([code, asked]).toEqual([78, says('this needs your consent')]);
        const other = createRepository(join(home, 'other'), { 'x.txt': 'other' });
        expect(await refusal(`${at}${encodeURI(other)}`)).toEqual([78, says('is not there: `git fetch` it first')]);
        expect(await refusal(url.replace(String(server.port), '1'))).toEqual([78, says('cannot be reached')]);
        const empty = join(room.root, 'empty');
        mkdirSync(empty);
        for (const name of ['git', 'sh']) execFileSync('ln', ['-s', `/usr/bin/${name}`, join(empty, name)]);
        expect(await refusal(url, ['--yes'], { PATH: empty })).toEqual([78, says('ssh')]);
        renameSync(squad, `${squad}.away`);
        expect(await refusal(url)).toEqual([78, says('a login shell finds no squad')]);
        // A squad that knows of no moves, and one that is newer.
        writeFileSync(squad, '#!/bin/sh\necho "squad: unknown command receive" >&2\nexit 2\n');
        chmodSync(squad, 0o755);
        expect(await refusal(url)).toEqual([78, says('cannot take part in a move')]);
        const failed = { failed: { code: 'wrong-environment', message: 'squad 9.0.0 is here' } };
        writeFileSync(squad, `#!/bin/sh\nread -r line\necho 'squad-move-1 ${JSON.stringify(failed)}'\n`);
        expect(await refusal(url)).toEqual([78, says('squad 9.0.0 is here')]);
        rmSync(squad);
        renameSync(`${squad}.away`, squad);
        expect((await room.run(['runs'])).stdout).not.toContain('moved');
      } finally {
        await server.stop();
      }
    });
  });
});
