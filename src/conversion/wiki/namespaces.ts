/**
 * Prefixes of links that show a file or put the page into a category: the English ones, which every wiki
 * knows, and those of the larger languages, for dumps whose `siteinfo` does not name them. Pure data.
 */

/** Numbers of namespaces in every wiki. */
const FILE = 6
const CATEGORY = 14

const FILES =
  'file|image|datei|bild|fichier|archivo|imagen|immagine|ficheiro|imagem|bestand|afbeelding|plik|grafika|файл|изображение|картинка|' +
  'зображення|soubor|súbor|fájl|kép|fișier|imagine|tiedosto|kuva|fil|bilde|billede|dosya|resim|tập tin|hình|berkas|gambar|ファイル|画像|' +
  '文件|檔案|图像|圖像|파일|그림|ملف|صورة|پرونده|קובץ|תמונה|αρχείο|εικόνα|датотека|слика|datoteka|slika|vaizdas|attēls|fail|pilt|चित्र|' +
  'ไฟล์|ภาพ|fitxer|imatge|fitxategi|dosiero'
const CATEGORIES =
  'category|kategorie|catégorie|categoría|categoria|categorie|kategoria|категория|категорія|kategória|luokka|kategori|thể loại|' +
  'カテゴリ|分类|分類|분류|تصنيف|رده|קטגוריה|κατηγορία|категорија|kategorija|kategooria|श्रेणी|หมวดหมู่|kategorio'

/** Lower-case names with spaces, of files and categories. */
export const COMMON_DROPPED: ReadonlySet<string> = new Set([...FILES.split('|'), ...CATEGORIES.split('|')])

/**
 * @param names namespaces of a wiki as its dump gives them: lower-case name -> number
 * @returns the common names and those of this wiki
 */
export function droppedNames(names: ReadonlyMap<string, number>): ReadonlySet<string> {
  const own = [...names].filter(([, id]) => id === FILE || id === CATEGORY).map(([name]) => name)
  return own.every((name) => COMMON_DROPPED.has(name)) ? COMMON_DROPPED : new Set([...COMMON_DROPPED, ...own])
}
