import { del, get, set } from "./idb-keyval.js";
import { OptimError } from "./error.js";
import { blob, type Pieces } from "./checkpoint.js";

/**
 * A place that keeps one checkpoint. A write that does not come to its end, because the tab is closed or the disk is full,
 * leaves the checkpoint before it.
 */
export interface Store {
  /** Replaces the checkpoint. */
  write(pieces: Pieces): Promise<void>;
  /** The checkpoint there is. */
  read(): Promise<Blob | undefined>;
  /** Forgets it. */
  remove(): Promise<void>;
}

const missing = (what: string): OptimError => new OptimError(`${what} is not available here`, "UNSUPPORTED");

const isAbsent = (error: unknown): boolean => error instanceof DOMException && error.name === "NotFoundError";

/**
 * A file in the origin private file system. It is written beside the old one, which it replaces when it is whole.
 *
 * @param name The file's name, without a path.
 * @throws On use: `UNSUPPORTED` where there is no such file system, or its files have no `createWritable`; what the browser says of a full disk.
 */
export function opfs(name: string): Store {
  const folder = async (): Promise<FileSystemDirectoryHandle> => {
    if (globalThis.navigator?.storage?.getDirectory === undefined) throw missing("the origin private file system");
    return navigator.storage.getDirectory();
  };
  return {
    async write(pieces) {
      const file = await (await folder()).getFileHandle(name, { create: true });
      if (file.createWritable === undefined) throw missing("createWritable of the origin private file system");
      const stream = await file.createWritable();
      try {
        for await (const piece of pieces) await stream.write(piece);
      } catch (error) {
        await stream.abort();
        throw error;
      }
      await stream.close();
    },
    async read() {
      try {
        const file = await (await (await folder()).getFileHandle(name)).getFile();
        return file.size === 0 ? undefined : file;
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
    },
    async remove() {
      try {
        await (await folder()).removeEntry(name);
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    },
  };
}

/**
 * An entry of IndexedDB, in the database and store of the package `idb-keyval`. It is replaced in one transaction.
 *
 * @param key The entry's key.
 * @throws On use: `UNSUPPORTED` where there is no IndexedDB; what the browser says of a full disk.
 */
export function indexedDb(key: string): Store {
  const check = (): void => {
    if (globalThis.indexedDB === undefined) throw missing("IndexedDB");
  };
  return {
    async write(pieces) {
      check();
      await set(key, await blob(pieces));
    },
    async read() {
      check();
      return get<Blob>(key);
    },
    async remove() {
      check();
      await del(key);
    },
  };
}
