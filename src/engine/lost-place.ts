import { basename } from 'node:path';
import { SquadError } from '../model/errors.ts';
import { bindState, isBoundTo, restoreId } from '../substrate/system/files/state-place.ts';
import type { RunResources } from './run-resources.ts';

/** Watches whether an engine's ledger and repository are where they were when it began. */
export interface PlaceWatch {
  /** Why the engine cannot go on; undefined: both are there. */
  findLoss(): SquadError | undefined;
  /** Puts back what was deleted: squad's note in the git directory, or the ledger, with all that this engine recorded. */
  putBack(): 'ledger' | undefined;
}

export function watchPlaces(
  { ledger, directory }: Pick<RunResources, 'ledger' | 'directory'>,
  stateDirectory: string,
  { root, commonDirectory }: { readonly root: string; readonly commonDirectory: string },
): PlaceWatch {
  return {
    findLoss: () => {
      const place = ledger.place();
      if (place === 'deleted' || place === 'replaced') return lostLedger(directory, place);
      // A person may have deleted squad's note in the git directory. The repository is still the same.
      if (isBoundTo(directory, commonDirectory) || restoreId(directory, commonDirectory))
        return place === 'moved' ? lostLedger(directory, place) : undefined;
      return new SquadError({
        code: 'storage-refused',
        message: `${root} is not there any more: the repository was moved, renamed or removed while its agents worked. squad has ended their turns`,
        next: 'Run `squad resume` where the repository is now.',
      });
    },
    putBack: () => {
      if (ledger.place() !== 'deleted') {
        restoreId(directory, commonDirectory);
        return undefined;
      }
      ledger.writeBack();
      bindState(stateDirectory, commonDirectory, basename(root));
      return 'ledger';
    },
  };
}

function lostLedger(directory: string, place: 'deleted' | 'replaced' | 'moved'): SquadError {
  const after = place === 'deleted' ? ' and written the ledger back' : '';
  return new SquadError({
    code: 'storage-refused',
    message: `${directory}: the ledger was ${place} while its engine was working. squad has ended the turns${after}`,
    next: 'Run `squad resume`.',
  });
}
