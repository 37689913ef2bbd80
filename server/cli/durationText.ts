const minute = 60
const hour = 60 * minute

/** A span as people say it, to two places: `1 h 20 min`. */
export const durationText = (seconds: number): string => {
  if (seconds < 1) return 'under 1 s'
  if (seconds < 2 * minute) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / minute)
  if (minutes < 60) return `${minutes} min`
  if (minutes < 24 * 60) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(seconds / hour)
  return parts(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const parts = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`
