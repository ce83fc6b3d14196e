import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openMembers } from '../../../src/cli/team/open-members.ts';
import { compose } from '../../../src/engine/compose.ts';
import { defaultSettings } from '../../../src/squad/settings/parse-settings.ts';
import type { Terminal } from '../../../src/substrate/ports/terminal.ts';
import { openMailRoom } from '../../substrate/ledger/mail/support.ts';
import { testHost } from '../../support/test-host.ts';

it('a terminal that opens no pane leaves no ticket: each holds a token and the keys of runtimes', async () => {
  const { directory, ledger } = openMailRoom();
  const name = ledger.runs()[0]?.name ?? '';
  let written = 0;
  const terminal = {
    open: () => {
      written = readdirSync(join(directory, 'panes')).length;
      return Promise.reject(new Error('no display'));
    },
  } as unknown as Terminal;
  const opened = openMembers(
    { directory, composition: compose(testHost(dirname(directory))) },
    { terminal, team: 't', settings: defaultSettings(), environment: { KEY: 'k3y' } },
    { program: ['node'], directory, run: name, environment: {} },
  );
  await expect(opened).rejects.toThrow('no display');
  expect(written).toBeGreaterThan(1);
  expect(readdirSync(join(directory, 'panes'))).toEqual([]);
});
