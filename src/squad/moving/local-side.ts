import { hostname } from 'node:os';
import { hasLedger } from '../../substrate/ledger/index.ts';
import { readMark } from '../../substrate/ledger/moved-mark.ts';
import { defined } from '../../text/defined.ts';
import { openWorkspace, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { comingRuns, commitMove, forgetPack, goBack, packToMove, packToSend, type OnWait } from './local-source.ts';
import { beginMoved, discardMoved, readComing, takeMoved } from './local-target.ts';
import type { Looked } from './move-messages.ts';
import type { MovingSide } from './move-side.ts';

interface LocalSideOptions {
  /** The program that starts an engine. */
  readonly squad: readonly string[];
  readonly onWait: OnWait;
}

/** The repository at a place of this machine. */
export function localSide(place: Place, { squad, onWait }: LocalSideOptions): MovingSide {
  const directory = async (): Promise<string> => (await openWorkspace(place)).directory;
  return {
    url: undefined,
    look: async (coming) => {
      const workspace = await openWorkspace(place);
      const about = sideOf(workspace);
      if (coming !== undefined) return { ...about, runs: [], ...(await readComing(workspace, coming)) };
      return { ...about, runs: comingRuns(workspace), items: [], problems: [] };
    },
    pack: async (move, other, now) => packToMove(place, { move, other, now }, onWait),
    fetch: async (move) => packToSend(await directory(), move),
    commit: async (move, other) => commitMove(await directory(), move, other, Date.now()),
    goBack: async (move) => goBack(await directory(), move),
    done: async (move) => forgetPack(await directory(), move),
    take: async (move, other, pack, agreed) => takeMoved(place, { move, other, pack, agreed }),
    discard: async (move) => discardMoved(place, move),
    begin: async (move, run) => beginMoved(place, squad, { move, run }),
  };
}

function sideOf({ repository, state, directory }: OpenedWorkspace): Pick<Looked, 'shown' | 'id' | 'hasRuns' | 'mark'> {
  const isKnown = state.type === 'known';
  return {
    shown: `${hostname()}:${repository.root}`,
    hasRuns: isKnown && hasLedger(directory),
    ...defined({ id: isKnown ? state.id : undefined, mark: isKnown ? readMark(directory) : undefined }),
  };
}
