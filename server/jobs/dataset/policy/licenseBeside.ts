import type { LicenseFile } from '../datasetInput.ts'

type Beside = { readonly license: string; readonly from: string }

/**
 * Finds what the licence files say of a document: those of its folder, or of the nearest folder above that has any.
 * Where one folder has several, all of them hold.
 */
export const licenseBeside = (files: readonly LicenseFile[]): ((name: string) => Beside | null) => {
  const byFolder = new Map<string, LicenseFile[]>()
  for (const file of files) {
    const folder = folderOf(file.name)
    byFolder.set(folder, [...(byFolder.get(folder) ?? []), file])
  }
  return (name) => {
    for (let folder = folderOf(name); ; folder = folderOf(folder)) {
      const found = byFolder.get(folder)
      if (found !== undefined) return together(found)
      if (folder === '') return null
    }
  }
}

/** Of a name or a folder; the outermost is ''. */
const folderOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('/')))

const together = (files: readonly LicenseFile[]): Beside => {
  const licenses = [...new Set(files.map(({ license }) => license))]
  return {
    license: licenses.length === 1 ? licenses.join('') : licenses.map((each) => (/\bOR\b/i.test(each) ? `(${each})` : each)).join(' AND '),
    from: files.map(({ name }) => name).join(', '),
  }
}
