// Makes the two documents of the demonstration that no editor of plain text can write: `node test/support/demoDocuments.mjs`.
import { createWriteStream, writeFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow } from 'docx'
import PdfDocument from 'pdfkit'

const folder = new URL('../../server/cli/demo/documents/', import.meta.url).pathname

const ropes = [
  ['heading', 'Ropes of the harbour'],
  [
    'paragraph',
    'Every boat at Skerry Point is held by rope, and most of the damage of a winter is done by rope that was the wrong ' +
      'kind, tied in the wrong way, or left too long. These notes were written for the evening class of the sailing ' +
      'school. They deal with the three kinds of rope that are sold in the village and with the four knots that are asked ' +
      'for in the test.',
  ],
  ['heading', 'Three kinds of rope'],
  [
    'paragraph',
    'Nylon stretches by up to a third of its length before it breaks. That makes it the best rope for anchors and for ' +
      'mooring in a swell, because it takes up the shock that would tear a cleat out of the deck. It loses about a tenth ' +
      'of its strength when it is wet, and it wears quickly where it rubs on stone.',
  ],
  [
    'paragraph',
    'Polyester hardly stretches at all and stands the sun better than any other fibre. It is used for halyards and sheets, ' +
      'where a rope that gives would spoil the set of a sail. A polyester rope of twelve millimetres carries about three ' +
      'tonnes when it is new and half of that after five summers.',
  ],
  [
    'paragraph',
    'Polypropylene floats, so it is used for rescue lines and for the lines of lobster pots. It is cheap and light, but ' +
      'sunlight makes it brittle within two seasons. It should never hold a boat overnight.',
  ],
  [
    'table',
    [
      ['Rope', 'Stretch before breaking', 'Floats', 'Seasons in the sun'],
      ['Nylon', '30 percent', 'no', '5'],
      ['Polyester', '12 percent', 'no', '8'],
      ['Polypropylene', '18 percent', 'yes', '2'],
    ],
  ],
  ['heading', 'Four knots'],
  [
    'paragraph',
    'The bowline makes a loop that neither slips nor jams. It holds two thirds of the strength of the rope, and it can be ' +
      'untied after any load, but not while the load is on it. Tie a stopper behind it when the rope is stiff.',
  ],
  [
    'paragraph',
    'The round turn and two half hitches is the knot for a ring or a post when the boat is already pulling. The round turn ' +
      'takes the strain while the hitches are made, so that it can be tied and untied under load by one person.',
  ],
  [
    'paragraph',
    'The sheet bend joins two ropes of different thickness. The loop is made in the thicker one. When both are wet and ' +
      'slippery, go round twice, which makes it a double sheet bend.',
  ],
  [
    'paragraph',
    'The figure of eight is a stopper: it keeps the end of a sheet from running out through its block. It is larger than ' +
      'an overhand knot and does not jam as hard. Leave a hand of rope behind it.',
  ],
  ['heading', 'Care'],
  [
    'paragraph',
    'Salt crystals cut the fibres from within. Wash every rope in fresh water at the end of the season, hang it in the ' +
      'shade until it is dry, and coil it loosely. A rope that is stored wet in a locked cabin smells in March and breaks ' +
      'in June.',
  ],
  [
    'paragraph',
    'Look at the places where a rope bends round something: the fairlead, the cleat, the ring. If the yarns on the outside ' +
      'are broken for a quarter of the way round, cut the rope there and make two short ones of it. Turn a mooring line end ' +
      'for end once a year, so that it does not always wear in the same place.',
  ],
]

const mussels = [
  [
    ['heading', 'The mussel beds of Skerry Point'],
    [
      'paragraph',
      'A report to the harbour trust by the committee of the mussel beds, made after the fourth year of the trial and read ' +
        'at the meeting in November. It describes how the beds were laid, what they have yielded, and what the committee ' +
        'asks the trust to decide.',
    ],
    ['heading', 'How the beds were laid'],
    [
      'paragraph',
      'Mussels were always found on the piles of the old pier, but never enough to sell. In the spring of the first year ' +
        'the committee sank forty frames of larch behind the breakwater, each three metres long, and hung ropes of coconut ' +
        'fibre between them. Young mussels drift in the water in May and settle on whatever is rough. By September the ropes ' +
        'were black with them.',
    ],
    [
      'paragraph',
      'The frames stand where the current is between half a knot and one knot. With less, the mussels starve, because each ' +
        'of them filters about two litres of water an hour and soon empties what lies still. With more, they spend their ' +
        'strength on holding fast and stay small.',
    ],
    ['heading', 'What they have yielded'],
    [
      'paragraph',
      'The first harvest was taken after eighteen months and weighed 1.4 tonnes. The second weighed 3.1 tonnes and the third ' +
        '2.6 tonnes. The fall in the third year was caused by eider ducks, which arrived in January and ate from the ropes ' +
        'for six weeks until nets were hung round the frames.',
    ],
  ],
  [
    ['heading', 'Clean water'],
    [
      'paragraph',
      'Samples are taken from four places on the first Monday of each month and sent to the laboratory on the mainland. In ' +
        'forty-eight months the limit for bacteria was passed three times, each time within two days of heavy rain, when the ' +
        'ditch behind the campsite overflows. Harvesting now stops for seven days after more than thirty millimetres of rain.',
    ],
    [
      'paragraph',
      'Twice a summer the water turns brown with algae. Most of them are harmless, but one kind makes mussels poisonous for ' +
        'people, and no cooking removes the poison. The beds were closed for five weeks in the third summer for this reason. ' +
        'The mussels clean themselves when the algae have gone.',
    ],
    ['heading', 'What is to be decided'],
    [
      'paragraph',
      'The committee asks the trust for three decisions. First, that the number of frames be doubled to eighty, at a cost of ' +
        '9600 crowns. Second, that boats on the outer mooring buoys be forbidden to pump their bilges between May and October. ' +
        'Third, that a tenth of what the harvest earns be laid aside for the repair of the breakwater, without which there ' +
        'would be neither harbour nor beds.',
    ],
    [
      'paragraph',
      'Two members of the committee did not agree with the first request. They hold that eighty frames would take so much ' +
        'food out of the water that all mussels would grow more slowly, and they point to the bay of Lund, where this happened ' +
        'within three years of doubling the frames.',
    ],
  ],
]

const cell = (text) => new TableCell({ children: [new Paragraph(text)] })
const docxPart = ([kind, content], nth) => {
  if (kind === 'table') return new Table({ rows: content.map((row) => new TableRow({ children: row.map(cell) })) })
  if (kind === 'paragraph') return new Paragraph(content)
  return new Paragraph({ text: content, heading: nth === 0 ? HeadingLevel.HEADING_1 : HeadingLevel.HEADING_2 })
}
const docx = new Document({ sections: [{ children: ropes.map(docxPart) }] })
writeFileSync(`${folder}ropes.docx`, await Packer.toBuffer(docx))

const pdf = new PdfDocument({ size: 'A4', margin: 72, info: { Title: 'The mussel beds of Skerry Point' } })
const file = pdf.pipe(createWriteStream(`${folder}mussel-beds.pdf`))
for (const [page, parts] of mussels.entries()) {
  if (page > 0) pdf.addPage()
  for (const [kind, text] of parts) {
    if (kind === 'heading') pdf.moveDown().font('Helvetica-Bold').fontSize(15).text(text).moveDown(0.4)
    else pdf.font('Helvetica').fontSize(11).text(text, { align: 'left', lineGap: 2 }).moveDown(0.7)
  }
}
pdf.end()
await finished(file)
