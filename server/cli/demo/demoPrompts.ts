/** One line of the demo's batch. */
export type DemoPrompt = { readonly id: string; readonly prompt: string }

type Slots = { readonly person: string; readonly town: string; readonly thing: string; readonly days: number }

/** The same prompts on every run: 60 notes, five small tasks about each. Every prompt is another text. */
export const demoPrompts = (): readonly DemoPrompt[] =>
  notes().flatMap((note, at) =>
    tasks.map(({ name, order }) => ({
      id: `note-${String(at + 1).padStart(2, '0')}-${name}`,
      prompt: `${order}\n"""\n${note}\n"""`,
    })),
  )

const tasks = [
  { name: 'summary', order: 'Summarise this note for a colleague who has ten seconds.' },
  { name: 'question', order: 'Write a question that this note answers, as JSON: {"question":"","answer":""}' },
  { name: 'tags', order: 'Give this note a title and three key terms, as JSON: {"title":"","keyTerms":["","",""]}' },
  { name: 'facts', order: 'List 2 items that this note states, as JSON: [{"topic":"","fact":""}]' },
  { name: 'reply', order: 'Draft a short reply to the writer of this note that repeats its facts.' },
] as const

const slots: readonly Slots[] = [
  { person: 'Amina Haddad', town: 'Leeds', thing: 'espresso machine', days: 3 },
  { person: 'Jonas Weber', town: 'Ghent', thing: 'cargo bike', days: 9 },
  { person: 'Priya Nair', town: 'Porto', thing: 'weather station', days: 14 },
  { person: 'Mateo Rojas', town: 'Graz', thing: 'sewing machine', days: 5 },
  { person: 'Eun-ji Park', town: 'Turku', thing: 'greenhouse heater', days: 21 },
]

const templates: readonly ((slots: Slots) => string)[] = [
  ({ person, town, thing, days }) =>
    `${person} from ${town} writes that the ${thing} arrived ${days} days late. ` +
    'The box was open and a screw is missing. The question is whether the missing part can be sent by post.',
  ({ person, town, thing, days }) =>
    `The workshop in ${town} repaired a ${thing} for ${person}. ` +
    `The repair took ${days} hours and needed a new power supply. The owner was pleased with the work and the price.`,
  ({ person, town, thing, days }) =>
    `${person} returned the ${thing} to the store in ${town} after ${days} days. ` +
    'The reason given is noise at night. The refund has been approved and the device goes back to the maker.',
  ({ person, town, thing, days }) =>
    `Sales of the ${thing} in ${town} rose by ${days} percent in spring. ` +
    `${person} believes that the new leaflet made the difference. A second printing is planned for autumn.`,
  ({ person, town, thing, days }) =>
    `The invoice for the ${thing} was sent to ${person} twice. ` +
    `The bookkeeper in ${town} noticed it after ${days} days. The second one was cancelled and an apology sent.`,
  ({ person, town, thing, days }) =>
    `${person} teaches a class in ${town} about the care of a ${thing}. ` +
    `The class has ${days} pupils and a waiting list. A second evening would need a larger room.`,
  ({ person, town, thing, days }) =>
    `A storm cut the power in ${town} for ${days} hours. ` +
    `The ${thing} of ${person} would not start again afterwards. The insurance asks for photographs of the damage.`,
  ({ person, town, thing, days }) =>
    `${person} lent a ${thing} to the library of things in ${town}. ` +
    `It was borrowed ${days} times in the first month. Borrowers praise the printed instructions.`,
  ({ person, town, thing, days }) =>
    `The maker of the ${thing} recalls models built before March. ` +
    `${person} owns one of them and lives in ${town}. A replacement takes ${days} days and costs nothing.`,
  ({ person, town, thing, days }) =>
    `${person} measured what a ${thing} uses in a week: ${days} kilowatt hours. ` +
    `The council of ${town} published the figures. Neighbours want to measure their own devices now.`,
  ({ person, town, thing, days }) =>
    `The museum in ${town} shows a ${thing} from 1931. ` +
    `${person} gave it to the collection ${days} years ago. Visitors may touch it on the first Sunday of each month.`,
  ({ person, town, thing, days }) =>
    `${person} asks for a discount on a used ${thing}. ` +
    `The seller in ${town} offers ${days} percent and free delivery. The offer stands until the end of the week.`,
]

const notes = (): readonly string[] => templates.flatMap((template) => slots.map(template))
