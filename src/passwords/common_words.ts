/**
 * Words from which the most used passwords are made: names, affections, games, keyboard walks, defaults of
 * devices. The list was written for this server from well-known patterns. Lower case, without digits in place
 * of letters (password_strength.ts undoes those). Pure data.
 */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  `
  password passwort passwd passphrase motdepasse contrasena parola haslo wachtwoord senha salasana heslo
  admin administrator root toor user guest test tester testing demo default login logon master superuser
  welcome willkommen bienvenue letmein letmeinnow openup access secret secrets private changeme changeit
  changethis temporary temp sample example unknown nothing whatever blank none null empty
  server database backup service system network router cisco oracle mysql postgres redis mongo elastic
  company office internet computer laptop windows linux ubuntu debian apple google facebook amazon github
  qwerty qwertz azerty qwertyui qwertyuiop qwertzuiop azertyuiop asdf asdfgh asdfghjkl zxcv zxcvbn zxcvbnm
  yxcvbnm poiuytrewq lkjhgfdsa mnbvcxz qazwsx qazwsxedc zaqxsw wsxedc qweasd qweasdzxc asdzxc poiuy
  abc abcd abcde abcdef abcdefg abcdefgh abcdefghijkl abcdefghijklmnopqrstuvwxyz xyz xyzzy aabbcc abcabc
  iloveyou iloveu loveyou loveme lovely lover loves love ilove mylove forever always together hello helloworld
  princess prince king queen angel angels baby babygirl babyboy sweetie sweetheart honey darling cutie beautiful
  sunshine moonlight starlight rainbow flower flowers butterfly diamond crystal silver golden summer winter
  autumn spring monday tuesday wednesday thursday friday saturday sunday january february march april june july
  august september october november december christmas birthday holiday
  dragon monkey tiger lion eagle falcon panther wolf bear horse dolphin shark snake phoenix unicorn kitty puppy
  doggy banana orange cookie chocolate cheese coffee pepper ginger cinnamon peanut butter pizza burger
  football soccer baseball basketball hockey tennis golf rugby cricket running racing player winner champion
  superman batman spiderman ironman pokemon pikachu naruto starwars startrek matrix gandalf hobbit zelda mario
  minecraft fortnite warcraft counterstrike playstation nintendo xbox gamer gaming hunter killer ninja samurai
  pirate wizard magic merlin shadow ghost demon devil lucifer hell heaven jesus christ god bless blessed faith
  trustno trustnoone nobody someone anybody everybody stupid idiot fuckyou fuckoff asshole bitch shit sexy hottie
  michael michelle jennifer jessica jordan ashley amanda daniel andrew anthony thomas robert william richard
  charlie matthew joshua nicholas alexander christopher elizabeth victoria samantha stephanie nicole natasha
  maria anna peter paul john george david joseph martin stefan andreas julia laura sarah sophie emma lucas
  mercedes ferrari porsche bmw audi toyota honda harley yamaha mustang corvette camaro
  barcelona realmadrid liverpool arsenal chelsea juventus manchester yankees cowboys lakers steelers
  germany france england america canada australia london paris berlin newyork california texas
  blink metallica nirvana slipknot eminem beatles rockstar guitar music dancer
  freedom liberty peace victory power energy future destiny spirit dreams dreamer lucky money dollar million
  `
    .trim()
    .split(/\s+/),
)
