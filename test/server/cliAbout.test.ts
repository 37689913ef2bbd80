import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorkplace } from '../../server/compose.ts'
import { Config } from '../../server/config.ts'
import { temporaryFolder } from '../contract/temporaryFolder.ts'

test('--data is the folder of views.db, and what a workplace stands on can be asked for', async () => {
  const folder = await temporaryFolder()
  const [store, views] = [join(folder.path, 'store'), join(folder.path, 'views')]
  const config = Config.parse({ store: `sqlite:${store}`, data: views })
  const workplace = await openWorkplace(config, { env: {}, log: () => {} })
  try {
    expect(await workplace.about()).toEqual({
      store: `sqlite:${store}`,
      sqliteVersion: expect.stringMatching(/^3\.\d+\.\d+$/),
      artifacts: join(store, 'artifacts'),
      views,
    })
    expect([join(views, 'views.db'), join(store, 'views.db')].map((path) => existsSync(path))).toEqual([true, false])
  } finally {
    await workplace.close()
    await folder.remove()
  }
})
