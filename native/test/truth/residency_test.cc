// Reads that must not wait for the disk, over a file whose pages have been dropped from memory. On file
// systems in memory and on kernels whose mincore does not tell, these tests are skipped and say so.
#include "truth/residency.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/lmdb_residency.h"
#include "support/truth_env.h"
#include "truth/document_reader.h"

namespace mds::test {
namespace {

using Kind = DocumentRead::Kind;

constexpr size_t kPageBytes = 4096;
constexpr size_t kBodyBytes = 40 * kPageBytes;
constexpr uint32_t kOtherDocuments = 3000;

// Writes the file to the disk and drops its pages. They must not be mapped.
void drop_pages(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(fsync(descriptor), 0);
  EXPECT_EQ(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  EXPECT_EQ(close(descriptor), 0);
}

// A mapped file of zeros, without read-ahead.
class MappedFile {
 public:
  explicit MappedFile(size_t pages) : bytes_(pages * kPageBytes) {
    const int descriptor = open(directory_.file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const Buffer zeros(bytes_);
    EXPECT_EQ(write(descriptor, zeros.data(), bytes_), static_cast<ssize_t>(bytes_));
    drop_pages(directory_.file());
    map_ = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
    EXPECT_NE(map_, MAP_FAILED);
    EXPECT_EQ(madvise(map_, bytes_, MADV_RANDOM), 0);
    EXPECT_EQ(close(descriptor), 0);
  }
  ~MappedFile() { munmap(map_, bytes_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] Bytes bytes() const { return {static_cast<const uint8_t*>(map_), bytes_}; }
  void touch(size_t page) const { (void)*static_cast<const volatile uint8_t*>(bytes().data() + page * kPageBytes); }

 private:
  ScratchDirectory directory_;
  size_t bytes_;
  void* map_ = nullptr;
};

bool tells_residency() {
  const MappedFile file(2);
  Residency residency;
  const Residency::Asked asked(residency);
  return !residency.holds(file.bytes());
}

#define SKIP_WITHOUT_RESIDENCY() \
  if (!tells_residency()) GTEST_SKIP() << "NOT TESTED: the kernel does not say which pages of a file are in memory"

TEST(Residency, TellsWhichPagesAreInMemoryAndReadsNone) {
  SKIP_WITHOUT_RESIDENCY();
  const MappedFile file(700);
  Residency residency;
  {
    const Residency::Asked asked(residency);
    EXPECT_FALSE(residency.holds(file.bytes().first(1)));
  }
  const uint64_t faults = major_faults();
  {
    const Residency::Asked asked(residency);
    EXPECT_TRUE(residency.isAsked());
    EXPECT_FALSE(residency.holds(file.bytes().first(1)));
    EXPECT_TRUE(residency.hasMissed());
    EXPECT_TRUE(residency.holds({}));
  }
  EXPECT_FALSE(residency.isAsked());
  EXPECT_EQ(major_faults(), faults);
  for (size_t page = 0; page < 699; ++page) file.touch(page);
  EXPECT_GT(major_faults(), faults);
  const Residency::Asked asked(residency);
  EXPECT_FALSE(residency.hasMissed());
  EXPECT_TRUE(residency.holds(file.bytes().subspan(kPageBytes - 1, 2)));
  EXPECT_TRUE(residency.holds(file.bytes().first(699 * kPageBytes)));
  EXPECT_FALSE(residency.hasMissed());
  EXPECT_FALSE(residency.holds(file.bytes().first(699 * kPageBytes + 1))) << "the last page";
  EXPECT_TRUE(residency.hasMissed());
}

TEST(Residency, TrustsAPageForAMoment) {
  const MappedFile file(1);
  file.touch(0);
  Residency residency;
  const Residency::Asked asked(residency);
  ASSERT_TRUE(residency.holds(file.bytes()));
  // What is not mapped any more cannot be asked about, and only the same page is known.
  EXPECT_TRUE(residency.holds(file.bytes().first(10)));
  EXPECT_EQ(mds_lmdb_may_read(mds_lmdb_residency, file.bytes().data()), 1);
}

// A truth env of some megabytes, closed and opened again with none of its pages in memory but the first ones.
class ResidencyOfDocuments : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_RESIDENCY();
    Buffer packed(kBodyBytes, 'x');
    truth_.put_body(body_record(BodyCodec::kNone, std::string(kBodyBytes, 'x'), packed));
    truth_.fill(kOtherDocuments);
    truth_.close();
    drop_pages(truth_.file());
    truth_.open();
    auto reader = DocumentReader::open(truth_.env());
    ASSERT_TRUE(reader.ok());
    reader_ = std::move(reader.value());
  }

  [[nodiscard]] Kind get(bool asksResidency, size_t spaceBytes = kBodyBytes + kPageBytes) {
    Buffer space(spaceBytes);
    DocumentFacts facts;
    return reader_->get(kNames, 1, asksResidency, space, facts).kind;
  }

  TruthEnv truth_;
  std::unique_ptr<DocumentReader> reader_;
};

TEST_F(ResidencyOfDocuments, AReadThatMustNotWaitTouchesNoPageThatIsNotInMemory) {
  // Also reads the code for the first time, which is a file, too.
  EXPECT_EQ(get(true), Kind::kNotResident);
  const uint64_t faults = major_faults();
  // A read that touched one page more would come to an end at last.
  for (uint32_t count = 0; count < 20; ++count) EXPECT_EQ(get(true), Kind::kNotResident);
  EXPECT_EQ(major_faults(), faults);
  EXPECT_EQ(get(false), Kind::kWritten) << "the transaction is whole after the refused reads";
  EXPECT_GT(major_faults(), faults);
  EXPECT_EQ(get(true), Kind::kWritten);
}

TEST_F(ResidencyOfDocuments, ABodyIsAskedAboutAsAWholeAndOnlyIfItFits) {
  EXPECT_EQ(get(false, 64), Kind::kSpaceShort);
  EXPECT_EQ(get(true, 64), Kind::kSpaceShort) << "only the first page of the body is in memory";
  const uint64_t faults = major_faults();
  for (uint32_t count = 0; count < 2 * kBodyBytes / kPageBytes; ++count) EXPECT_EQ(get(true), Kind::kNotResident);
  EXPECT_EQ(major_faults(), faults);
  EXPECT_EQ(get(false), Kind::kWritten);
  EXPECT_EQ(get(true), Kind::kWritten);
}

TEST_F(ResidencyOfDocuments, OtherReadsOfTheThreadAskNothing) {
  EXPECT_EQ(get(true), Kind::kNotResident);
  EXPECT_EQ(mds_lmdb_residency, nullptr);
  Buffer space(kBodyBytes + kPageBytes);
  DocumentFacts facts;
  EXPECT_EQ(reader_->read(kCollection, kDocid, std::nullopt, space, facts).kind, Kind::kWritten);
}

}  // namespace
}  // namespace mds::test
